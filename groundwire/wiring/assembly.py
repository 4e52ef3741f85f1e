"""What handlers are built from: a profile, a corpus, and the intents where they are given explicitly."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.profiles import Profile

from .given import GivenIntents

if TYPE_CHECKING:
    from groundwire.corpus import Sieve, Snapshot
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
    snapshot, _ = in_memory([path], chunking_of(chosen), intents=text, sieve=sieve_of(chosen))
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


def chunking_of(profile: Profile) -> Any:
    """How a profile cuts documents."""
    from groundwire.corpus import Chunking

    return Chunking(**profile.chunking.model_dump())


def sieve_of(profile: Profile) -> "Sieve | None":
    """What a profile takes out of documents before it cuts them."""
    if not profile.sets_aside:
        return None
    from agents import planted
    from groundwire.corpus import Sieve

    stopwords = frozenset(profile.terms.stopwords)
    name = f"planted-{planted.VERSION}"
    return Sieve(
        name, planted.may_hold_planted, lambda texts: planted.planted_from(texts, stopwords)
    )
