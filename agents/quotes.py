"""Chosen sentences as quotes: neighbours as one, in the order of their documents, each with what it needs. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from contracts import Lead, RetrievedPassage, Segment

from .caveats import Quoted
from .sentences import Sentence

_SAYS = re.compile(r"\w")


@dataclass(frozen=True)
class Quote:
    """A segment, and what stands around it."""

    segment: Segment
    around: Quoted


@dataclass(frozen=True)
class _Span:
    """Characters `start` to `end` of a document that are to be quoted, all in one passage, which is a `Lead`'s too."""

    source: RetrievedPassage
    holder: Lead
    start: int
    end: int

    @property
    def text(self) -> str:
        first = self.holder.passage_start
        return self.holder.passage[self.start - first : self.end - first]


def quote_passage(passage: RetrievedPassage) -> Quote:
    """All of a passage."""
    return _quote(_Span(passage, _whole(passage), passage.char_start, passage.char_end))


def quotes(sentences: Sequence[Sentence]) -> tuple[Quote, ...]:
    """The quotes that chosen sentences make, documents in the order of their best passages."""
    rank: dict[str, int] = {}
    for sentence in sorted(sentences, key=lambda one: one.rank):
        rank.setdefault(sentence.passage.doc_id, len(rank))
    spans = sorted(
        _spans(sentences), key=lambda span: (rank[span.source.doc_id], span.start, -span.end)
    )
    return tuple(map(_quote, _merged(spans)))


def _spans(sentences: Iterable[Sentence]) -> Iterator[_Span]:
    for one in sentences:
        yield _Span(one.passage, _whole(one.passage), one.char_start, one.char_end)
        if one.lead is not None:
            yield _Span(one.passage, one.lead, one.lead.char_start, one.lead.char_end)


def _whole(passage: RetrievedPassage) -> Lead:
    return Lead(
        text=passage.text,
        passage=passage.text,
        passage_start=passage.char_start,
        passage_id=passage.passage_id,
        heading_path=passage.heading_path,
        char_start=passage.char_start,
        char_end=passage.char_end,
    )


def _merged(spans: Sequence[_Span]) -> list[_Span]:
    """Neighbours in one passage as one; what lies in the quote before it is left out."""
    kept: list[_Span] = []
    for span in spans:
        last = kept[-1] if kept else None
        if last is None or last.source.doc_id != span.source.doc_id:
            kept.append(span)
        elif span.end > last.end:
            if _touch(last, span):
                kept[-1] = replace(last, end=span.end)
            else:
                kept.append(span)
    return kept


def _touch(last: _Span, span: _Span) -> bool:
    """Whether two spans of one passage have nothing between them that says anything."""
    if last.holder.passage_id != span.holder.passage_id:
        return False
    first = last.holder.passage_start
    return not _SAYS.search(last.holder.passage[last.end - first : span.start - first])


def _quote(span: _Span) -> Quote:
    source, holder = span.source, span.holder
    segment = Segment(
        text=span.text,
        passage_id=holder.passage_id,
        doc_id=source.doc_id,
        title=source.title,
        source=source.source,
        heading_path=holder.heading_path,
        char_start=span.start,
        char_end=span.end,
    )
    heading = "\n".join((source.title, *holder.heading_path))
    around = Quoted(span.text, holder.passage, heading, source.doc_id, source.title, source.dated)
    return Quote(segment, around)
