"""The third agent: an answer drafted from quotes, or an honest fallback."""

from contracts import DraftAnswer, RetrievedContext, RetrievedPassage, Segment

from .caveats import Noting, Quoted, due
from .composition import compose
from .wording import Wording


async def synthesize(context: RetrievedContext, *, wording: Wording, noting: Noting) -> DraftAnswer:
    """Quote the best passage, and say so when it doesn't speak of what the question names."""
    segments = tuple(_quote(passage) for passage in context.passages[:1])
    quotes = [_quoted(passage, passage.text) for passage in context.passages[:1]]
    caveats = due(context.intent, quotes, noting)
    return DraftAnswer(
        intent=context.intent,
        corpus_version=context.corpus_version,
        text=compose(segments, caveats, wording),
        segments=segments,
        source_passage_ids=tuple(segment.passage_id for segment in segments),
        entity_match=all(caveat.kind != "entity_not_in_source" for caveat in caveats),
        caveats=caveats,
    )


def _quoted(passage: RetrievedPassage, text: str) -> Quoted:
    return Quoted(
        text=text,
        passage=passage.text,
        heading="\n".join((passage.title, *passage.heading_path)),
        doc_id=passage.doc_id,
        title=passage.title,
        dated=passage.dated,
    )


def _quote(passage: RetrievedPassage) -> Segment:
    return Segment(
        text=passage.text,
        passage_id=passage.passage_id,
        doc_id=passage.doc_id,
        title=passage.title,
        source=passage.source,
        heading_path=passage.heading_path,
        char_start=passage.char_start,
        char_end=passage.char_end,
    )
