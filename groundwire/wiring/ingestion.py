"""Ingestion as a profile wants it: documents and the intents beside them, cut, indexed, current when all is there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from groundwire import intents as intents_file
from groundwire.profiles import Profile

from .assembly import chunking_of, endpoint_of, load_profile, sieve_of

if TYPE_CHECKING:
    from groundwire.corpus import DryRun, Ingestion, OnProgress, Part, Recipe
    from groundwire.models import Endpoint
    from groundwire.settings import Settings


@dataclass(frozen=True)
class Intake:
    """What is ingested, under which root, and for which profile.

    `intents`: a file, instead of the one beside the documents. `labels`: of documents that name none.
    """

    paths: Sequence[Path]
    root: Path
    profile: str | Profile = "default"
    intents: Path | None = None
    labels: Sequence[str] = ()
    endpoint: "Endpoint | None" = None

    @classmethod
    def of(cls, settings: "Settings", paths: Sequence[Path], labels: Sequence[str] = ()) -> Self:
        """These documents, as a process's settings want them."""
        endpoint = endpoint_of(settings)
        return cls(paths, settings.corpus, settings.profile, settings.intents, labels, endpoint)


def ingest_corpus(
    intake: Intake,
    *,
    on_progress: "OnProgress | None" = None,
    slow_later: bool = False,
    on_scope: Callable[[str], None] = lambda line: None,
) -> "Ingestion":
    """Ingest documents, with the intents beside them, and make them the current corpus.

    `slow_later`: so that they answer at once, by their words; `grow_corpus` adds what takes long, and the classifier
    is learned when it is first asked. Else it is ready before, and `on_scope` is told what was calibrated.
    """
    from groundwire.corpus import ingest, unheard

    chosen = load_profile(intake.profile)
    recipe = _recipe(intake, chosen)
    calibration = None if slow_later else _taught(recipe.intents, chosen, intake.root)
    if calibration is not None:
        on_scope(calibration)
    report = on_progress or unheard
    return ingest(intake.paths, intake.root, recipe, on_progress=report, slow_later=slow_later)


def grow_corpus(
    root: Path,
    *,
    profile: str | Profile = "default",
    endpoint: "Endpoint | None" = None,
    on_progress: "OnProgress | None" = None,
) -> str | None:
    """Add what a profile's search needs and the current corpus lacks; the version current then."""
    from groundwire.corpus import grow_current, unheard

    parts = _parts(load_profile(profile), root, endpoint, has_intents=_has_intents(root))
    return grow_current(root, parts, on_progress=on_progress or unheard)


def plan_ingestion(intake: Intake, *, on_progress: "OnProgress | None" = None) -> "DryRun":
    """What `ingest_corpus` would change; changes nothing."""
    from groundwire.corpus import dry_run, unheard

    recipe = _recipe(intake, load_profile(intake.profile))
    return dry_run(intake.paths, intake.root, recipe, on_progress=on_progress or unheard)


def _has_intents(root: Path) -> bool:
    """Whether intents belong to the current corpus."""
    from groundwire.corpus import CorpusStore, is_root

    if not is_root(root):
        return False
    store = CorpusStore(root)
    snapshot = store.snapshot(store.current_version())
    return snapshot is not None and snapshot.intents is not None


def _recipe(intake: Intake, profile: Profile) -> "Recipe":
    from groundwire.corpus import Recipe

    if intake.intents is None:
        text = intents_file.text_beside(intake.paths)
    else:
        text = intents_file.read_text(intake.intents)
        intents_file.parse(text, str(intake.intents))
    parts = _parts(profile, intake.root, intake.endpoint, has_intents=text is not None)
    labels = tuple(intake.labels) or None
    return Recipe(chunking_of(profile), text, labels, parts, sieve_of(profile))


def _taught(intents: str | None, profile: Profile, root: Path) -> str | None:
    """The classifier's calibration for people, once it is kept under the root; None without examples."""
    from .classifier import ExampleClassifier, build_classifier, calibration_line, is_learned

    found = None if intents is None else intents_file.parse(intents, "the intents")
    if found is None or not is_learned(found, profile):
        return None
    from agents.entities import Vocabulary

    built = build_classifier(found, profile, Vocabulary(), root)
    assert isinstance(built, ExampleClassifier), "the profile and the file say so"
    return calibration_line(built.learned.calibration, profile)


def _parts(
    profile: Profile, root: Path, endpoint: "Endpoint | None", *, has_intents: bool
) -> "tuple[Part, ...]":
    """What is built for a profile. Without intents the documents have to say what is in scope."""
    found = _indexes(profile, root, endpoint)
    if has_intents or profile.intents is not None:
        return found
    from .familiarity import scope_parts

    return found + scope_parts(profile, root)


def _indexes(profile: Profile, root: Path, endpoint: "Endpoint | None") -> "tuple[Part, ...]":
    """What a profile finds by. The course's scores all passages in memory."""
    name = profile.retrieve.embedder
    if name == "hashing":
        return ()
    from groundwire.corpus import KeywordPart, SentencePart, VectorPart
    from groundwire.models import Cached, open_embedder

    words = KeywordPart(profile.terms.stopwords)
    if name == "none":
        return (words,)
    model = open_embedder(name, endpoint)
    found = (words, VectorPart(Cached(model, root / "vectors.sqlite")))
    if not profile.retrieve.sentences:
        return found
    return (*found, SentencePart(Cached(model, root / "sentences.sqlite")))
