"""Joins agents and corpus: the handlers of the stages, ports bound, and the in-process pipeline.

A handler builds only what its stage needs. The words and the classifier belong to a corpus
version: a draft is judged by the words it was written with, even while a new version arrives.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agents.entities import EntityValue, Vocabulary
from agents.wording import Wording
from contracts import (
    TOPOLOGY,
    Approved,
    Clarification,
    DraftAnswer,
    FormattedResponse,
    Intent,
    Misconfigured,
    OutOfScope,
    Query,
    Rejected,
    RetrievedContext,
    Value,
)
from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.intents import Intents
from groundwire.profiles import Profile

if TYPE_CHECKING:
    from agents.keywords import KeywordClassifier
    from agents.pipeline import Pipeline
    from agents.retrieve import Found, FoundPassage
    from bus import Log, Worker
    from groundwire.corpus import Document, Ingestion, Passage, Snapshot
    from groundwire.settings import Settings

Handler = Callable[[Any], Awaitable[Value]]
STAGES = ("understand", "retrieve", "synthesize", "critic", "format")
INLINE_PASSAGES = 2_000
"""Corpora above this are searched off the loop: below, it takes less than a switch is worth."""


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
    """What handlers are built from. `intents`: given explicitly, so they hold for any corpus."""

    profile: Profile
    corpus: Corpus
    intents: Intents | None = None

    @property
    def digest(self) -> str:
        """The configuration's digest; a corpus's own intents are part of its version instead."""
        if self.intents is None:
            return self.profile.digest
        from contracts import ids

        given = self.intents.model_dump_json()
        return ids.digest(f"{self.profile.digest}/{given}".encode())


def load_profile(profile: str | Profile) -> Profile:
    """A profile by its name or path, or the profile itself."""
    return profile if isinstance(profile, Profile) else profiles.load(profile)


def assemble(
    profile: str | Profile, corpus: Path | str, intents: Path | str | None = None
) -> Assembly:
    """Bind a profile to a corpus: a snapshot root, a folder of documents, or a file."""
    from groundwire.corpus import CorpusStore, FixedCorpus, in_memory, is_root

    chosen, path = load_profile(profile), Path(corpus)
    given = None if intents is None else intents_file.load(Path(intents))
    if is_root(path):
        return Assembly(chosen, CorpusStore(path), given)
    text = None if given else intents_file.text_beside([path])
    snapshot, _ = in_memory([path], chunking_of(chosen), intents=text)
    return Assembly(chosen, FixedCorpus(snapshot), given)


def ingest_corpus(
    paths: Sequence[Path],
    root: Path,
    *,
    profile: str | Profile = "default",
    intents: Path | str | None = None,
) -> "Ingestion":
    """Ingest documents, with the intents beside them, and make them the current corpus."""
    from groundwire.corpus import ingest

    if intents is None:
        text = intents_file.text_beside(paths)
    else:
        text = intents_file.read_text(Path(intents))
        intents_file.parse(text, str(intents))
    return ingest(paths, root, chunking_of(load_profile(profile)), intents=text)


def chunking_of(profile: Profile) -> Any:
    """How a profile cuts documents."""
    from groundwire.corpus import Chunking

    return Chunking(**profile.chunking.model_dump())


@dataclass(frozen=True)
class Rules:
    """What the intents of one corpus version say, in the agents' own values."""

    classifier: "KeywordClassifier"
    vocabulary: Vocabulary
    wording: Wording


def rules_of(intents: Intents, profile: Profile) -> Rules:
    """The classifier, entities and wording that a file of intents and a profile define."""
    from agents.keywords import Category, KeywordClassifier

    matching = profile.understand.matching
    vocabulary = Vocabulary(
        values=tuple(
            EntityValue(name, value, tuple(words))
            for name, values in intents.entities.items()
            for value, words in values.items()
        ),
        matching=matching,
        canonical_only=profile.synthesize.entity_words == "canonical",
    )
    given = intents.threshold
    classifier = KeywordClassifier(
        categories=tuple(
            Category(intent.label, tuple(intent.keywords.items())) for intent in intents.intents
        ),
        vocabulary=vocabulary,
        threshold=profile.understand.threshold if given is None else given,
        matching=matching,
    )
    return Rules(classifier, vocabulary, Wording(**intents.messages.model_dump(exclude_none=True)))


class _Reader:
    """Snapshots and rules by version, loaded off the loop, each parsed once while in use."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._corpus = assembly.corpus
        self._rules = lru_cache(maxsize=8)(self._rules_of)

    async def snapshot(self, version: str) -> "Snapshot | None":
        if self._corpus.holds(version):
            return self._corpus.snapshot(version)
        return await asyncio.to_thread(self._corpus.snapshot, version)

    async def current(self) -> "Snapshot":
        version = self._corpus.current_version()
        snapshot = await self.snapshot(version)
        if snapshot is None:
            raise Misconfigured(f"the current snapshot {version} is missing; ingest again")
        return snapshot

    async def rules(self, version: str | None = None) -> Rules:
        """The rules of a version; those of the current one for a version that isn't there."""
        if self._assembly.intents is not None:
            return self._rules(None)
        snapshot = None if version is None else await self.snapshot(version)
        return self._rules((snapshot or await self.current()).intents)

    def _rules_of(self, text: str | None) -> Rules:
        profile = self._assembly.profile
        if self._assembly.intents is not None:
            return rules_of(self._assembly.intents, profile)
        if text is not None:
            return rules_of(intents_file.parse(text, "the corpus's intents.toml"), profile)
        shipped = profiles.shipped_intents(profile.intents)
        return rules_of(intents_file.parse(shipped, f"intents {profile.intents}"), profile)


class _Search:
    """The agents' search port, on the current snapshot."""

    def __init__(self, profile: Profile, reader: _Reader) -> None:
        from agents.tokens import Analyzer
        from groundwire.corpus import Fields, Scoring, Searcher

        terms, retrieve = profile.terms, profile.retrieve
        self._reader = reader
        self._searcher = Searcher(
            Analyzer(frozenset(terms.stopwords), terms.stems),
            Fields(title="title" in terms.fields, headings="headings" in terms.fields),
            Scoring(retrieve.k1, retrieve.b, retrieve.dimensions),
        )

    async def __call__(self, text: str, labels: tuple[str, ...]) -> "Found":
        from agents.retrieve import Found

        snapshot = await self._reader.current()
        ready = self._searcher.is_ready(snapshot, labels)
        if ready and len(snapshot.passages) <= INLINE_PASSAGES:
            hits = self._searcher.score(snapshot, labels, text)
        else:
            hits = await asyncio.to_thread(self._searcher.score, snapshot, labels, text)
        return Found(
            corpus_version=snapshot.version,
            keyword_scores=hits.keyword_scores,
            vector_scores=hits.vector_scores,
            passage=lambda position: _found(*hits.passages[position]),
        )


def _found(document: "Document", passage: "Passage") -> "FoundPassage":
    from agents.retrieve import FoundPassage

    return FoundPassage(
        doc_id=document.doc_id,
        title=document.title,
        source=document.source,
        text=document.text_of(passage),
        **vars(passage),
    )


class _Documents:
    """The critic's store port: documents by corpus version."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    async def documents(
        self, corpus_version: str, doc_ids: frozenset[str]
    ) -> "Mapping[str, Document] | None":
        snapshot = await self._reader.snapshot(corpus_version)
        if snapshot is None:
            return None
        stored = snapshot.documents
        return {doc_id: stored[doc_id] for doc_id in doc_ids if doc_id in stored}


def build_handler(stage: str, assembly: Assembly) -> Handler:
    """The handler of one stage, with its ports bound; KeyError names the stages there are."""
    reader = _Reader(assembly)
    match stage:
        case "understand":
            return _understand(reader)
        case "retrieve":
            return _retrieve(assembly.profile, reader)
        case "synthesize":
            return _synthesize(reader)
        case "critic":
            return _critic(reader)
        case "format":
            return _format(reader)
        case _:
            raise KeyError(f"no stage {stage!r}; there are: {', '.join(STAGES)}")


def build_agents(assembly: Assembly) -> Mapping[str, Handler]:
    """The handlers of all stages by name."""
    return {stage: build_handler(stage, assembly) for stage in STAGES}


def build_pipeline(
    profile: str | Profile = "default",
    corpus: Path | str = ".",
    intents: Path | str | None = None,
) -> "Pipeline":
    """The five agents in process, answering from a documents folder, a file or a snapshot root."""
    from agents.pipeline import Pipeline

    agents: Mapping[str, Any] = build_agents(assemble(profile, corpus, intents))
    return Pipeline(**agents)


def _understand(reader: _Reader) -> Handler:
    from agents.understand import understand

    async def handle(query: Query) -> Intent | OutOfScope | Clarification:
        return await understand(query, classifier=(await reader.rules()).classifier)

    return handle


def _retrieve(profile: Profile, reader: _Reader) -> Handler:
    from agents.ranking import Ranking
    from agents.retrieve import retrieve

    search = _Search(profile, reader)
    ordering = {"alpha", "k", "rerank", "keep_unsupported"}
    ranking = Ranking(**profile.retrieve.model_dump(include=ordering))

    async def handle(intent: Intent) -> RetrievedContext:
        return await retrieve(intent, search=search, ranking=ranking)

    return handle


def _synthesize(reader: _Reader) -> Handler:
    from agents.synthesize import synthesize

    async def handle(context: RetrievedContext) -> DraftAnswer:
        rules = await reader.rules(context.corpus_version)
        return await synthesize(context, wording=rules.wording, vocabulary=rules.vocabulary)

    return handle


def _critic(reader: _Reader) -> Handler:
    from agents.critic import critic

    store = _Documents(reader)

    async def handle(draft: DraftAnswer) -> Approved | Rejected:
        rules = await reader.rules(draft.corpus_version)
        return await critic(draft, store=store, wording=rules.wording, vocabulary=rules.vocabulary)

    return handle


def _format(reader: _Reader) -> Handler:
    from agents.format import format as format_verdict

    async def handle(
        verdict: Approved | Rejected | OutOfScope | Clarification,
    ) -> FormattedResponse:
        judged = verdict if isinstance(verdict, Approved | Rejected) else None
        rules = await reader.rules(judged.corpus_version if judged else None)
        return await format_verdict(verdict, wording=rules.wording)

    return handle


CORPUS_POLL_S = 0.5


async def await_corpus(root: Path, stop: asyncio.Event, log: "Log") -> bool:
    """Wait until documents have been ingested under `root`; False if `stop` came first."""
    from groundwire.corpus import is_root

    told = False
    while not is_root(root):
        if not told:
            log("corpus.waiting", root=str(root), hint="run `groundwire ingest PATH`")
            told = True
        try:
            async with asyncio.timeout(CORPUS_POLL_S):
                await stop.wait()
                return False
        except TimeoutError:
            continue
    return True


async def build_worker(
    stage: str, settings: "Settings", *, url: str, consumer: str, log: "Log"
) -> "Worker":
    """The worker of one stage: its handler on the current corpus, its place on the bus."""
    from bus import UrlBackend, Worker
    from groundwire.client import bus_config

    try:
        place = TOPOLOGY.stage(stage)
    except KeyError as error:
        raise Misconfigured(str(error.args[0])) from error
    assembly = assemble(settings.profile, settings.corpus, settings.intents)
    wording = (await _Reader(assembly).rules()).wording
    return Worker(
        place,
        build_handler(stage, assembly),
        backend=UrlBackend(url),
        consumer=consumer,
        config=bus_config(settings),
        configdigest=assembly.digest,
        failed_message=wording.failed,
        log=log,
    )
