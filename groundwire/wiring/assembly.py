"""What handlers are built from: a profile, a corpus, and the intents where they are given explicitly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.profiles import Profile

from .given import GivenIntents

if TYPE_CHECKING:
    from groundwire.corpus import DryRun, Ingestion, OnProgress, Part, Recipe, Snapshot
    from groundwire.models import Endpoint
    from groundwire.settings import Settings


class Corpus(Protocol):
    """Snapshots by version. Everything may block, except what `holds` says is in memory."""

    def current_version(self) -> str:
        """The version that answers now."""
        ...

    def holds(self, version: str) -> bool:
        """Whether reading the version costs nothing."""
        ...

    def snapshot(self, version: str) -> "Snapshot | None":
        """A stored version; None if there is none of that name."""
        ...


@dataclass(frozen=True)
class Assembly:
    """What handlers are built from. `intents`: given explicitly, so they hold for any corpus.

    `endpoint`: where a profile embeds whose embedder is `http`.
    `kept`: where classifiers are kept once they are trained; None: nowhere.
    """

    profile: Profile
    corpus: Corpus
    intents: GivenIntents | None = None
    endpoint: "Endpoint | None" = None
    kept: Path | None = None

    @property
    def digest(self) -> str:
        """The configuration's digest, the corpus's own intents apart."""
        return self.digest_of(None if self.intents is None else self.intents.text())

    def digest_of(self, intents: str | None) -> str:
        """The digest of the configuration with the text of these intents."""
        parts = [] if intents is None else [intents]
        if self.endpoint is not None and self.profile.retrieve.embedder == "http":
            parts += [self.endpoint.url, self.endpoint.model]
        if not parts:
            return self.profile.digest
        from contracts import ids

        text = "/".join([self.profile.digest, *parts])
        return ids.digest(text.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class CorpusIntents:
    """The text of the intents that belong to a version of a corpus; None if there are none."""

    version: str
    text: str | None


def corpus_intents(root: Path) -> CorpusIntents | None:
    """Those of the current version; None where nothing has been ingested."""
    from groundwire.corpus import CorpusStore, is_root

    if not is_root(root):
        return None
    current = CorpusStore(root).current()
    return CorpusIntents(current.version, current.intents)


def load_profile(profile: str | Profile) -> Profile:
    """A profile by its name or path, or the profile itself: as far as what it needs is installed."""
    wanted = profile if isinstance(profile, Profile) else profiles.load(profile)
    return installed(wanted)


def installed(wanted: Profile) -> Profile:
    """The profile, or what stands in for it where packages are missing: `fast`, or words alone."""
    if not lacking(wanted):
        return wanted
    if wanted.name == "default":
        return installed(profiles.load("fast"))
    words = wanted.retrieve.model_copy(update={"embedder": "none"})
    return wanted.model_copy(update={"retrieve": words})


def lacking(wanted: Profile) -> tuple[str, ...]:
    """The packages that a profile's embedder needs and that aren't here."""
    from groundwire.models.choice import missing

    return missing(wanted.retrieve.embedder)


def stand_in(profile: str | Profile) -> str | None:
    """What to tell where another profile stands in for the one that was asked for."""
    wanted = profile if isinstance(profile, Profile) else profiles.load(profile)
    packages = lacking(wanted)
    if not packages:
        return None
    used = installed(wanted)
    return (
        f"profile {wanted.name} needs {', '.join(packages)}: answering with {used.name}, "
        f"embedder {used.retrieve.embedder}; install groundwire[vectors]"
    )


def assemble(
    profile: str | Profile,
    corpus: Path | str,
    intents: Path | str | None = None,
    endpoint: "Endpoint | None" = None,
    *,
    on_fault: Callable[[str], None] = lambda fault: None,
) -> Assembly:
    """Bind a profile to a corpus: a snapshot root, a folder of documents, or a file.

    `on_fault` is told when the intents given here become faulty later.
    """
    from groundwire.corpus import CorpusStore, FixedCorpus, in_memory, is_root

    chosen, path = load_profile(profile), Path(corpus)
    given = None if intents is None else GivenIntents(Path(intents), on_fault)
    if is_root(path):
        return Assembly(chosen, CorpusStore(path), given, endpoint, kept=path)
    text = None if given else intents_file.text_beside([path])
    snapshot, _ = in_memory([path], chunking_of(chosen), intents=text)
    return Assembly(chosen, FixedCorpus(snapshot), given, endpoint)


def endpoint_of(settings: "Settings") -> "Endpoint | None":
    """Where the settings say that `http` embeds; None if they don't."""
    from groundwire.models import Endpoint

    url, model, key = (
        settings.embeddings_url,
        settings.embeddings_model,
        settings.embeddings_key,
    )
    if url is None or model is None:
        return None
    return Endpoint(url, model, None if key is None else key.get_secret_value())


def ingest_corpus(
    paths: Sequence[Path],
    root: Path,
    *,
    profile: str | Profile = "default",
    intents: Path | str | None = None,
    labels: Sequence[str] = (),
    endpoint: "Endpoint | None" = None,
    on_progress: "OnProgress | None" = None,
    slow_later: bool = False,
    on_scope: Callable[[str], None] = lambda line: None,
) -> "Ingestion":
    """Ingest documents, with the intents beside them, and make them the current corpus.

    `slow_later`: so that they answer at once, by their words; `grow_corpus` adds what takes long, and the classifier
    is learned when it is first asked. Else it is ready before, and `on_scope` is told what was calibrated.
    """
    from groundwire.corpus import ingest, unheard

    chosen = load_profile(profile)
    recipe = _recipe(paths, root, chosen, intents, labels, endpoint)
    calibration = None if slow_later else _taught(recipe.intents, chosen, root)
    if calibration is not None:
        on_scope(calibration)
    report = on_progress or unheard
    return ingest(paths, root, recipe, on_progress=report, slow_later=slow_later)


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


def plan_ingestion(
    paths: Sequence[Path],
    root: Path,
    *,
    profile: str | Profile = "default",
    intents: Path | str | None = None,
    labels: Sequence[str] = (),
    endpoint: "Endpoint | None" = None,
    on_progress: "OnProgress | None" = None,
) -> "DryRun":
    """What `ingest_corpus` would change; changes nothing."""
    from groundwire.corpus import dry_run, unheard

    recipe = _recipe(paths, root, load_profile(profile), intents, labels, endpoint)
    return dry_run(paths, root, recipe, on_progress=on_progress or unheard)


def _has_intents(root: Path) -> bool:
    """Whether intents belong to the current corpus."""
    from groundwire.corpus import CorpusStore, is_root

    if not is_root(root):
        return False
    store = CorpusStore(root)
    snapshot = store.snapshot(store.current_version())
    return snapshot is not None and snapshot.intents is not None


def _recipe(
    paths: Sequence[Path],
    root: Path,
    profile: Profile,
    intents: Path | str | None,
    labels: Sequence[str],
    endpoint: "Endpoint | None",
) -> "Recipe":
    from groundwire.corpus import Recipe

    if intents is None:
        text = intents_file.text_beside(paths)
    else:
        text = intents_file.read_text(Path(intents))
        intents_file.parse(text, str(intents))
    parts = _parts(profile, root, endpoint, has_intents=text is not None)
    return Recipe(chunking_of(profile), text, tuple(labels) or None, parts)


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
    from groundwire.corpus import KeywordPart, VectorPart
    from groundwire.models import Cached, open_embedder

    words = KeywordPart(profile.terms.stopwords)
    if name == "none":
        return (words,)
    return (words, VectorPart(Cached(open_embedder(name, endpoint), root / "vectors.sqlite")))


def chunking_of(profile: Profile) -> Any:
    """How a profile cuts documents."""
    from groundwire.corpus import Chunking

    return Chunking(**profile.chunking.model_dump())
