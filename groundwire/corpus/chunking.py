"""Documents into passages. Spans of the text, so that a passage is always a verbatim quote."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from .blocks import Block, blocks
from .model import Document, Passage
from .sentences import sentences, words

CHUNKING_VERSION = 1
"""Raised whenever the same document and sizes give other passages: what was cut before is cut again."""


@dataclass(frozen=True)
class Chunking:
    """How documents are cut. Sizes in characters; invariant: `0 <= overlap < size`.

    `fixed`: windows of `size` that overlap. `sentence`: whole blocks and sentences up to `size`, headings not counted.
    """

    method: Literal["fixed", "sentence"] = "sentence"
    size: int = 700
    overlap: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise ValueError(
                f"chunking: overlap {self.overlap} must be at least 0 and below size {self.size}"
            )


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    heading_path: tuple[str, ...] = ()


def chunk(document: Document, chunking: Chunking) -> Document:
    """The document with its passages, numbered in order of their place; one that has some keeps them."""
    if document.passages:
        return document
    is_fixed = chunking.method == "fixed"
    spans = _fixed(document.text, chunking) if is_fixed else _by_sentence(document, chunking.size)
    kept = (_trimmed(document.text, span, chunking) for span in spans)
    passages = (
        Passage(f"{document.doc_id}_p{number}", span.start, span.end, span.heading_path)
        for number, span in enumerate(span for span in kept if span.end > span.start)
    )
    return replace(document, passages=tuple(passages))


def _trimmed(text: str, span: _Span, chunking: Chunking) -> _Span:
    """The span without blanks around it; a fixed window stays as it is unless all of it is."""
    words = text[span.start : span.end]
    if not words.strip():
        return _Span(span.start, span.start)
    if chunking.method == "fixed":
        return span
    left = len(words) - len(words.lstrip())
    return replace(span, start=span.start + left, end=span.start + len(words.rstrip()))


def _fixed(text: str, chunking: Chunking) -> Iterator[_Span]:
    start = 0
    while start < len(text):
        end = min(start + chunking.size, len(text))
        yield _Span(start, end)
        if end == len(text):
            return
        start = end - chunking.overlap


def _by_sentence(document: Document, size: int) -> Iterator[_Span]:
    """Pack each section into passages of at most `size`; headings open one and don't count."""
    heading: Block | None = None
    body: list[Block] = []
    for block in blocks(document.text, markdown=document.markdown):
        if block.kind != "heading":
            body.append(block)
            continue
        if body:
            yield from _section(document.text, heading, body, size)
            heading, body = None, []
        start = block.start if heading is None else heading.start
        heading = replace(block, start=start)
    yield from _section(document.text, heading, body, size)


def _section(text: str, heading: Block | None, body: list[Block], size: int) -> Iterator[_Span]:
    """Passages of about the same length, so that no section leaves a crumb at its end."""
    if not body:
        if heading is not None:
            yield _Span(heading.start, heading.end, heading.heading_path)
        return
    pieces = [piece for block in body for piece in _pieces(text, block, size)]
    length = pieces[-1].end - pieces[0].start
    target = length / math.ceil(length / size)
    first = pieces[0].start
    current = replace(pieces[0], start=first if heading is None else heading.start)
    for piece in pieces[1:]:
        before, after = current.end - first, piece.end - first
        if after > size or after - target > target - before:
            yield current
            current, first = piece, piece.start
        else:
            current = replace(current, end=piece.end)
    yield current


def _pieces(text: str, block: Block, size: int) -> Iterator[_Span]:
    """The block whole where it fits; else its rows or sentences; else runs of words."""
    if block.end - block.start <= size:
        yield _Span(block.start, block.end, block.heading_path)
        return
    by_line = block.kind in ("table", "code")
    parts = _rows(text, block) if by_line else sentences(text, block.start, block.end)
    for start, end in parts:
        for left, right in words(text, start, end, size) if end - start > size else [(start, end)]:
            yield _Span(left, right, block.heading_path)


def _rows(text: str, block: Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)
