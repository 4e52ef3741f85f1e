"""The handlers of the stages, their ports bound. A handler builds only what its stage needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts import (
    TOPOLOGY,
    Approved,
    Clarification,
    DraftAnswer,
    FormattedResponse,
    Intent,
    OutOfScope,
    Query,
    Rejected,
    RetrievedContext,
    Value,
)
from groundwire.profiles import Profile

from .assembly import Assembly, assemble
from .rules import Reader

if TYPE_CHECKING:
    from agents.pipeline import Pipeline

Handler = Callable[[Any], Awaitable[Value]]
WARM = "warm"
STAGES = tuple(stage.name for stage in TOPOLOGY.stages)


def build_handler(stage: str, assembly: Assembly) -> Handler:
    """The handler of one stage, with its ports bound; KeyError names the stages there are."""
    reader = Reader(assembly)
    match stage:
        case "understand":
            return Understanding(assembly.profile, reader)
        case "retrieve":
            return Retrieving(assembly, reader)
        case "synthesize":
            return Synthesizing(assembly.profile, reader)
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


class Understanding:
    """The handler of understand. Until it is warm, its first query waits for models, and for what is learned."""

    def __init__(self, profile: Profile, reader: Reader) -> None:
        from .familiarity import Scopes

        self._reader = reader
        self._scopes = Scopes(profile)

    async def __call__(self, query: Query) -> Intent | OutOfScope | Clarification:
        """Classify by the current corpus's rules; whatever computes does so off the loop."""
        from agents.understand import understand

        snapshot = await self._reader.current()
        rules = await self._reader.rules(snapshot.version)
        familiarity = None if rules.intents is not None else self._scopes.of(snapshot)
        classifier, reading = await self._reader.understanding(rules)
        return await understand(
            query, classifier=classifier, reading=reading, familiarity=familiarity
        )

    async def warm(self) -> None:
        """Ask something: the classifier is learned or read, the scope model opened, the embedders have run."""
        await self(Query(text=WARM, session_id=WARM))


class Retrieving:
    """The handler of retrieve. Until it is warm, its first query waits for models and indexes."""

    def __init__(self, assembly: Assembly, reader: Reader) -> None:
        from .ranking import ranking_of, search_of

        self._search = search_of(assembly.profile, reader, endpoint=assembly.endpoint)
        self._ranking = ranking_of(assembly.profile)

    async def __call__(self, intent: Intent) -> RetrievedContext:
        """Find the passages; whatever computes does so off the loop."""
        from agents.retrieve import retrieve

        return await retrieve(
            intent, search=self._search, ranking=self._ranking, away=asyncio.to_thread
        )

    async def warm(self) -> None:
        """Load what a query needs. Transient: an endpoint doesn't answer now."""
        await self._search.warm()
        if self._ranking.rescore is not None:
            await asyncio.to_thread(self._ranking.rescore, WARM, [WARM])


class Synthesizing:
    """The handler of synthesize. Until it is warm, its first query waits for the vectors of words."""

    def __init__(self, profile: Profile, reader: Reader) -> None:
        from .synthesis import synthesizer_of

        self._reader = reader
        self._synthesizer, self._warm = synthesizer_of(profile)

    async def __call__(self, context: RetrievedContext) -> DraftAnswer:
        """Draft by the rules of the context's version; whatever computes does so off the loop."""
        from agents.synthesize import synthesize

        rules = await self._reader.rules(context.corpus_version)
        return await synthesize(
            context,
            synthesizer=self._synthesizer,
            wording=rules.wording,
            noting=rules.noting,
            away=asyncio.to_thread,
        )

    async def warm(self) -> None:
        """Load what a draft needs."""
        await asyncio.to_thread(self._warm)


def _critic(reader: Reader) -> Handler:
    from agents.critic import critic

    from .ports import Documents

    store = Documents(reader)

    async def handle(draft: DraftAnswer) -> Approved | Rejected:
        rules = await reader.rules(draft.corpus_version)
        return await critic(draft, store=store, wording=rules.wording, noting=rules.noting)

    return handle


def _format(reader: Reader) -> Handler:
    from agents.format import format as format_verdict

    from .topics import Topics

    topics = Topics()

    async def handle(
        verdict: Approved | Rejected | OutOfScope | Clarification,
    ) -> FormattedResponse:
        judged = verdict if isinstance(verdict, Approved | Rejected) else None
        rules = await reader.rules(judged.corpus_version if judged else None)
        wording = rules.wording
        if isinstance(verdict, OutOfScope) and rules.intents is None:
            snapshot, labels = await reader.current(), verdict.intent.query.labels
            names = await asyncio.to_thread(topics.of, snapshot, labels)
            wording = replace(wording, topics=names)
        return await format_verdict(verdict, wording=wording)

    return handle
