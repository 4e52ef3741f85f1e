"""Passages that keep together what belongs together: sections, lists and their lead-in, tables, sentences.

Every decision is local, so that an edit changes the passages around it and no others: sections are packed each for
itself, and a long one in stretches whose ends depend on the words there alone.
"""

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..model import Document, Passage
from .blocks import Block, Span, blocks
from .identity import Identities
from .sentences import sentences, words

_Cut = Callable[[str, int, int, int], Iterator[Span]]
"""From a text, a span of it and a size to the parts of the span, which they cover wholly."""

STRETCH = 4
"""A section of more than this many sizes is packed in stretches."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, or several that follow one another, and what stands below. `start`: of the first heading."""

    start: int
    heading_path: tuple[str, ...]
    headings_end: int
    body: list[Block]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is never cut again."""

    start: int
    end: int
    context: Span | None = None


def structure(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    """Pack each section into passages of at most `size`; headings open one and don't count. No overlap."""
    text, identities = document.text, Identities(document.doc_id)
    found = sections(blocks(text, markdown=document.markdown))
    for number, section in enumerate(found):
        for piece in _passages(text, section, size):
            quoted = text[piece.start : piece.end].strip()
            if quoted:  # a run of blanks as long as a passage is none
                start = text.index(quoted, piece.start)
                name = identities.next(section.heading_path, quoted)
                path, context = section.heading_path, piece.context
                yield Passage(name, start, start + len(quoted), path, number, context)


def sections(found: Sequence[Block]) -> Iterator[Section]:
    """The blocks of a document by the headings above them."""
    path: list[tuple[int, str]] = []
    start, headings_end, body = 0, -1, list[Block]()
    for block in found:
        if block.kind != "heading":
            body.append(block)
            continue
        if body:
            yield Section(start, _names(path), headings_end, body)
            headings_end, body = -1, []
        if headings_end < 0:
            start = block.start
        headings_end = block.end
        path = [(level, name) for level, name in path if level < block.level]
        path.append((block.level, block.name))
    if body or headings_end >= 0:
        yield Section(start, _names(path), headings_end, body)


def _names(path: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in path if name)


def _passages(text: str, section: Section, size: int) -> Iterator[_Piece]:
    """The passages of a section, the first with the headings before it unless those are longer than one."""
    headings = (section.start, max(section.headings_end, section.start))
    if headings[1] - headings[0] > size:
        runs = _fitting(text, headings, size, (_lines, words))
        yield from _packed([_Piece(*run) for run in runs], size)
        headings = (headings[1], headings[1])
    if not section.body:
        if headings[1] > headings[0]:
            yield _Piece(*headings)
        return
    pieces = list(_pieces(text, section.body, size))
    packed = [p for stretch in _stretches(text, pieces, size) for p in _packed(stretch, size)]
    if headings[1] > headings[0]:
        packed[0] = _Piece(headings[0], packed[0].end)
    yield from packed


def _stretches(text: str, pieces: list[_Piece], size: int) -> Iterator[list[_Piece]]:
    """A long section in parts that end where the words say so, whatever stands elsewhere."""
    if pieces[-1].end - pieces[0].start <= STRETCH * size:
        yield pieces
        return
    begin = 0
    for number in range(1, len(pieces)):
        piece = pieces[number]
        if piece.start - pieces[begin].start < size or pieces[-1].end - piece.start < size:
            continue
        if zlib.crc32(text[piece.start : piece.end].encode("utf-8", "replace")) % STRETCH == 0:
            yield pieces[begin:number]
            begin = number
    yield pieces[begin:]


def _packed(pieces: list[_Piece], size: int) -> Iterator[_Piece]:
    """Passages of about the same length, so that none leaves a crumb at the end."""
    length = pieces[-1].end - pieces[0].start
    target = length / math.ceil(length / size)
    start, end, context = pieces[0].start, pieces[0].end, pieces[0].context
    for piece in pieces[1:]:
        before, after = end - start, piece.end - start
        if after > size or after - target > target - before:
            yield _Piece(start, end, context)
            start, context = piece.start, piece.context
        end = piece.end
    yield _Piece(start, end, context)


def _pieces(text: str, body: Sequence[Block], size: int) -> Iterator[_Piece]:
    """Groups whole where they fit, else their blocks; blocks whole where they fit, else their parts."""
    at = 0
    while at < len(body):
        block = body[at]
        after = at + 1
        while after < len(body) and block.group and body[after].group == block.group:
            after += 1
        if after > at + 1 and body[after - 1].end - block.start <= size:
            yield _Piece(block.start, body[after - 1].end, block.context)
        else:
            for one in body[at:after]:
                yield from _parts(text, one, size)
        at = after


def _parts(text: str, block: Block, size: int) -> Iterator[_Piece]:
    """The block whole where it fits; else the lines of code, sentences, runs of words that do."""
    cuts = (_lines, _sentences, words) if block.kind == "code" else (_sentences, words)
    for start, end in _fitting(text, (block.start, block.end), size, cuts):
        yield _Piece(start, end, block.context)


def _fitting(text: str, span: Span, size: int, cuts: Sequence[_Cut]) -> Iterator[Span]:
    """The span whole where it fits; else its parts by the first cut, each as it fits by those that follow."""
    if span[1] - span[0] <= size or not cuts:
        yield span
        return
    for part in cuts[0](text, *span, size):
        yield from _fitting(text, part, size, cuts[1:])


def _lines(text: str, start: int, end: int, _: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop


def _sentences(text: str, start: int, end: int, _: int) -> Iterator[Span]:
    return sentences(text, start, end)
