"""Passages that overlap: one from every sentence on, as many whole sentences as fit.

Whatever is asked for, some passage begins where its answer does. Several say the same, so that a search that keeps
them all says it again and again: a profile with this method keeps passages that stand apart.
"""

from collections.abc import Iterator, Sequence

from ..model import Document, Passage
from .blocks import Block, Span, blocks
from .identity import Identities
from .sentences import sentences, words
from .structure import sections


def windows(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    """Windows of at most `size` within each section, headings counted; none lies within the one before."""
    text, identities = document.text, Identities(document.doc_id)
    for number, section in enumerate(sections(blocks(text, markdown=document.markdown))):
        headings = (section.start, max(section.headings_end, section.start))
        pieces = list(_pieces(text, headings, section.body, size))
        for start, end in _windows(pieces, size):
            name = identities.next(section.heading_path, text[start:end])
            yield Passage(name, start, end, section.heading_path, number)


def _windows(pieces: Sequence[Span], size: int) -> Iterator[Span]:
    """From every piece on, those that fit; the pieces come in order and none is longer than `size`."""
    reached = last = 0
    for first, (start, _) in enumerate(pieces):
        last = max(last, first)
        while last + 1 < len(pieces) and pieces[last + 1][1] - start <= size:
            last += 1
        if pieces[last][1] > reached:
            reached = pieces[last][1]
            yield start, reached


def _pieces(text: str, headings: Span, body: Sequence[Block], size: int) -> Iterator[Span]:
    """Headings, sentences and lines of code without the blanks around them, cut between words where too long."""
    yield from _cut(text, headings, size)
    for block in body:
        parts = _lines if block.kind == "code" else sentences
        for part in parts(text, block.start, block.end):
            yield from _cut(text, part, size)


def _cut(text: str, span: Span, size: int) -> Iterator[Span]:
    for start, end in words(text, *span, size) if span[1] - span[0] > size else [span]:
        quoted = text[start:end].strip()
        if quoted:
            begin = text.index(quoted, start)
            yield begin, begin + len(quoted)


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop
