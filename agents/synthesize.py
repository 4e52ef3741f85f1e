"""The third agent: an answer drafted from quotes, or an honest fallback."""

from contracts import DraftAnswer, RetrievedContext, RetrievedPassage, Segment

from .composition import compose
from .entities import Vocabulary
from .wording import Wording


async def synthesize(
    context: RetrievedContext, *, wording: Wording, vocabulary: Vocabulary
) -> DraftAnswer:
    """Quote the best passage, and say so when it doesn't speak of what the question names."""
    segments = tuple(_quote(passage) for passage in context.passages[:1])
    quoted = "\n".join(segment.text for segment in segments)
    caveats = vocabulary.caveats(context.intent.entities, quoted) if segments else ()
    return DraftAnswer(
        intent=context.intent,
        corpus_version=context.corpus_version,
        text=compose(segments, caveats, wording),
        segments=segments,
        source_passage_ids=tuple(segment.passage_id for segment in segments),
        entity_match=not caveats,
        caveats=caveats,
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
