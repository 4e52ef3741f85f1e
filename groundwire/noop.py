"""Five agents that do nothing but make the next message: what remains is the bus."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from contracts import (
    Approved,
    ChannelPayload,
    DraftAnswer,
    FormattedResponse,
    Intent,
    Query,
    RetrievedContext,
    RetrievedPassage,
    Value,
)


async def understand(query: Query) -> Intent:
    """An intent without thought."""
    return Intent(
        query=query,
        cleaned_text=query.text,
        label="anything",
        labels=("anything",),
        confidence=1.0,
        category_scores={"anything": 1.0},
        in_scope=True,
    )


_PASSAGES = tuple(
    RetrievedPassage(
        passage_id=f"p{rank}",
        doc_id="d",
        title="A page",
        source="page.md",
        text="x" * 150,
        char_start=0,
        char_end=150,
        keyword_score=1.0,
        vector_score=1.0,
        hybrid_score=1.0,
        hybrid_rank=rank,
        final_rank=rank,
    )
    for rank in (1, 2, 3)
)


async def retrieve(intent: Intent) -> RetrievedContext:
    """Three passages of 150 characters, always the same."""
    return RetrievedContext(intent=intent, corpus_version="v", passages=_PASSAGES)


async def synthesize(context: RetrievedContext) -> DraftAnswer:
    """A draft of nothing."""
    return DraftAnswer(
        intent=context.intent,
        corpus_version="v",
        text="",
        segments=(),
        source_passage_ids=(),
        entity_match=True,
    )


async def critic(draft: DraftAnswer) -> Approved:
    """Approves."""
    return Approved(
        label="approved_fallback",
        intent=draft.intent,
        corpus_version="v",
        segments=(),
        caveats=(),
        related=(),
        checks=(),
    )


async def format_answer(verdict: Approved) -> FormattedResponse:
    """A response of nothing."""
    query = verdict.intent.query
    return FormattedResponse(
        query_id=query.query_id,
        session_id=query.session_id,
        channel=query.channel,
        status="approved_fallback",
        label="anything",
        confidence=1.0,
        display_text="",
        channel_json=ChannelPayload(status="approved_fallback", message=""),
    )


HANDLERS: Mapping[str, Callable[[Any], Awaitable[Value]]] = {
    "understand": understand,
    "retrieve": retrieve,
    "synthesize": synthesize,
    "critic": critic,
    "format": format_answer,
}
