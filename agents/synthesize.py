"""The third agent: an answer drafted from quotes, or an honest fallback."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from contracts import DraftAnswer, RelatedPassage, RetrievedContext, RetrievedPassage

from .caveats import Noting, due, uncovered
from .composition import compose
from .machine import orders_machine
from .quotes import Quote, quote_passage
from .wording import Wording

MOST_RELATED = 3


@dataclass(frozen=True)
class Drafted:
    """What to quote, in order. `evidence`: the probability that it answers, where that was gauged.

    `open`: parts of the question that nothing answers. No quotes: nothing answers at all.
    """

    quotes: tuple[Quote, ...]
    evidence: float | None = None
    open: tuple[str, ...] = ()


class Synthesizer(Protocol):
    """Makes an answer of passages: verbatim quotes, and none rather than some that don't answer."""

    def __call__(self, context: RetrievedContext) -> Drafted:
        """The quotes for a context; the same for the same context."""
        ...


Away = Callable[[Callable[[], Drafted]], Awaitable[Drafted]]
"""Does work that takes a while somewhere where nobody waits for its thread."""


async def here(work: Callable[[], Drafted]) -> Drafted:
    """Do it at once."""
    return work()


def top_passage(context: RetrievedContext) -> Drafted:
    """The best passage, whole, whatever it says: the course's synthesizer."""
    return Drafted(tuple(quote_passage(passage) for passage in context.passages[:1]))


async def synthesize(
    context: RetrievedContext,
    *,
    synthesizer: Synthesizer,
    wording: Wording,
    noting: Noting,
    away: Away = here,
) -> DraftAnswer:
    """Quote what answers, and say what the reader must know beside it; else say where to look."""
    drafted = await away(lambda: synthesizer(context))
    quotes = drafted.quotes
    segments = tuple(quote.segment for quote in quotes)
    caveats = due(context.intent, [quote.around for quote in quotes], noting)
    if quotes and "partly_covered" in noting.kinds:
        caveats += uncovered(drafted.open)
    return DraftAnswer(
        intent=context.intent,
        corpus_version=context.corpus_version,
        text=compose(segments, caveats, wording),
        segments=segments,
        source_passage_ids=tuple(dict.fromkeys(segment.passage_id for segment in segments)),
        entity_match=all(caveat.kind != "entity_not_in_source" for caveat in caveats),
        evidence=drafted.evidence,
        caveats=caveats,
        related=() if quotes else _related(context),
    )


def _related(context: RetrievedContext) -> tuple[RelatedPassage, ...]:
    """Where the reader might look: the first passage below each of the closest headings that are a document's own."""
    places: dict[tuple[str, tuple[str, ...]], RetrievedPassage] = {}
    for passage in context.passages:
        if not orders_machine("\n".join((passage.title, *passage.heading_path))):
            places.setdefault((passage.doc_id, passage.heading_path), passage)
    return tuple(
        RelatedPassage(
            passage_id=passage.passage_id,
            doc_id=passage.doc_id,
            title=passage.title,
            source=passage.source,
            heading_path=passage.heading_path,
        )
        for passage in list(places.values())[:MOST_RELATED]
    )
