"""What handlers are built from: a profile, a corpus, and the intents where they are given explicitly."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.intents import Intents
from groundwire.profiles import Profile

if TYPE_CHECKING:
    from groundwire.corpus import DryRun, Ingestion, OnProgress, Part, Progress, Recipe, Snapshot
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
    """

    profile: Profile
    corpus: Corpus
    intents: Intents | None = None
    endpoint: "Endpoint | None" = None

    @property
    def digest(self) -> str:
        """The configuration's digest; a corpus's own intents are part of its version instead."""
        given = [] if self.intents is None else [self.intents.model_dump_json()]
        if self.endpoint is not None and self.profile.retrieve.embedder == "http":
            given += [self.endpoint.url, self.endpoint.model]
        if not given:
            return self.profile.digest
        from contracts import ids

        return ids.digest("/".join([self.profile.digest, *given]).encode())


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
) -> Assembly:
    """Bind a profile to a corpus: a snapshot root, a folder of documents, or a file."""
    from groundwire.corpus import CorpusStore, FixedCorpus, in_memory, is_root

    chosen, path = load_profile(profile), Path(corpus)
    given = None if intents is None else intents_file.load(Path(intents))
    if is_root(path):
        return Assembly(chosen, CorpusStore(path), given, endpoint)
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
) -> "Ingestion":
    """Ingest documents, with the intents beside them, and make them the current corpus.

    `slow_later`: so that they answer at once, by their words; `grow_corpus` adds what takes long.
    """
    from groundwire.corpus import ingest

    recipe = _recipe(paths, root, load_profile(profile), intents, labels, endpoint)
    report = on_progress or _silent
    return ingest(paths, root, recipe, on_progress=report, slow_later=slow_later)


def grow_corpus(
    root: Path,
    *,
    profile: str | Profile = "default",
    endpoint: "Endpoint | None" = None,
    on_progress: "OnProgress | None" = None,
) -> str | None:
    """Add what a profile's search needs and the current corpus lacks; the version current then."""
    from groundwire.corpus import grow_current

    parts = _parts(load_profile(profile), root, endpoint, has_intents=_has_intents(root))
    return grow_current(root, parts, on_progress=on_progress or _silent)


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
    from groundwire.corpus import dry_run

    recipe = _recipe(paths, root, load_profile(profile), intents, labels, endpoint)
    return dry_run(paths, root, recipe, on_progress=on_progress or _silent)


def _silent(progress: "Progress") -> None: ...


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
