"""The five agents in one process: for tests, evaluation and debugging."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts import (
    Approved,
    Clarification,
    DraftAnswer,
    FormattedResponse,
    Intent,
    OutOfScope,
    Query,
    Rejected,
    RetrievedContext,
)

IN_PROCESS = "in-process"


@dataclass(frozen=True)
class Trace:
    """Everything that was made of a query; what wasn't reached is None."""

    query: Query
    intent: Intent
    context: RetrievedContext | None
    draft: DraftAnswer | None
    verdict: Approved | Rejected | None
    response: FormattedResponse


@dataclass(frozen=True)
class Pipeline:
    """The handlers of the five stages, ports bound: the same that worker processes run."""

    understand: Callable[[Query], Awaitable[Intent | OutOfScope | Clarification]]
    retrieve: Callable[[Intent], Awaitable[RetrievedContext]]
    synthesize: Callable[[RetrievedContext], Awaitable[DraftAnswer]]
    critic: Callable[[DraftAnswer], Awaitable[Approved | Rejected]]
    format: Callable[
        [Approved | Rejected | OutOfScope | Clarification], Awaitable[FormattedResponse]
    ]

    async def run(self, query: Query | str) -> Trace:
        """Answer a question; a text is asked without a session of its own."""
        asked = Query(text=query, session_id=IN_PROCESS) if isinstance(query, str) else query
        if not asked.query_id:
            asked = asked.model_copy(update={"query_id": f"0-{IN_PROCESS}"})
        understood = await self.understand(asked)
        if not isinstance(understood, Intent):
            response = await self.format(understood)
            return Trace(asked, understood.intent, None, None, None, response)
        context = await self.retrieve(understood)
        draft = await self.synthesize(context)
        verdict = await self.critic(draft)
        return Trace(asked, understood, context, draft, verdict, await self.format(verdict))
