"""What of a text can be quoted alone: sentences, list items, table rows, and what each of them needs beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .blocks import Block, Span, blocks
from .sentences import sentences

KEPT = 2_048
Kind = Literal["sentence", "item", "row", "code", "heading"]


@dataclass(frozen=True)
class Piece:
    """A span without blanks around it. `context`: the span that it can't be understood without."""

    start: int
    end: int
    kind: Kind = "sentence"
    context: Span | None = None


@lru_cache(maxsize=KEPT)
def pieces(text: str) -> tuple[Piece, ...]:
    """The pieces of a text, in order. Rows without their header are no table to Markdown, and rows all the same."""
    return tuple(cut(text, markdown=True))


def cut(text: str, *, markdown: bool) -> Iterator[Piece]:
    """The same, not kept."""
    for block in blocks(text, markdown=markdown):
        yield from _of(text, block)


def _of(text: str, block: Block) -> Iterator[Piece]:
    if block.kind in ("row", "header"):
        stop = text.find("\n", block.start, block.end) if block.kind == "header" else block.end
        kind: Kind = "row" if block.kind == "row" else "heading"
        yield Piece(block.start, block.end if stop < 0 else stop, kind, block.context)
    elif block.kind == "heading":
        yield Piece(block.start, block.end, "heading")
    elif block.kind == "code":
        yield Piece(block.start, block.end, "code", block.context)
    elif text[block.start] == "|":
        yield from _lines(text, block)
    else:
        yield from _said(text, block)


def _said(text: str, block: Block) -> Iterator[Piece]:
    """The sentences of a paragraph or an item. Only the first of an item bears its mark and needs the lead-in."""
    is_item = block.kind == "item" or block.context is not None
    for start, end in sentences(text, block.start, block.end):
        words = text[start:end]
        begin = start + len(words) - len(words.lstrip())
        stop = start + len(words.rstrip())
        if begin < stop:
            yield Piece(begin, stop, "item" if is_item else "sentence", block.context)


def _lines(text: str, block: Block) -> Iterator[Piece]:
    start = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        if line.strip(" |:-\n\t"):
            yield Piece(start, start + len(line.rstrip()), "row")
        start += len(line)
