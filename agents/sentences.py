"""A passage as the pieces that can be quoted: sentences, list items, table rows. Pure; who cuts is a port.

Every piece begins and ends where a sentence or a line does, as the critic demands of a quote.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contracts import Lead, RetrievedPassage

from .boundaries import begins_sentence, ends_sentence
from .machine import addresses_machine

Kind = Literal["sentence", "item", "row", "code", "heading"]
Span = tuple[int, int]
_ASKS = re.compile(r"^[^.!?\n]+\?[\s\"'”’)*_]*$")
MOST = 60
"""Pieces of a passage that are looked at; what stands behind them is in another passage."""


@dataclass(frozen=True)
class Piece:
    """A span of a text; `context`: another one that it needs, such as a table's header."""

    start: int
    end: int
    kind: Kind = "sentence"
    context: Span | None = None


Cut = Callable[[str], Sequence[Piece]]
"""Takes a passage's text apart, in order."""


@dataclass(frozen=True)
class Sentence:
    """What can be quoted. Offsets are characters of the document, as its passage's are.

    `rank`: of its passage, from 0; `place`: among the `count` sentences there. `lead`: what is quoted with it.
    """

    passage: RetrievedPassage
    rank: int
    place: int
    count: int
    char_start: int
    char_end: int
    text: str
    lead: Lead | None = None


def sentences(passages: Sequence[RetrievedPassage], cut: Cut) -> list[Sentence]:
    """Those of all passages, in their order; no characters twice where passages overlap."""
    found: list[Sentence] = []
    seen: set[tuple[str, int, int]] = set()
    for rank, passage in enumerate(passages):
        pieces = [
            piece for piece in _whole(passage.text, cut(passage.text)) if _is_said(passage, piece)
        ]
        for place, piece in enumerate(pieces[:MOST]):
            span = (passage.char_start + piece.start, passage.char_start + piece.end)
            if (passage.doc_id, *span) in seen:
                continue
            seen.add((passage.doc_id, *span))
            text = passage.text[piece.start : piece.end]
            lead = _lead(passage, piece)
            found.append(Sentence(passage, rank, place, min(len(pieces), MOST), *span, text, lead))
    return found


def only_asks(text: str) -> bool:
    """Whether a piece is a question and nothing else."""
    return _ASKS.search(text) is not None


def _is_said(passage: RetrievedPassage, piece: Piece) -> bool:
    """Whether a piece says something to people: neither a question nor instructions to a machine are an answer."""
    text = passage.text[piece.start : piece.end]
    if piece.kind == "heading" or not re.search(r"\w", text) or only_asks(text):
        return False
    return not addresses_machine(text)


def _whole(text: str, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, joined where one doesn't end as a sentence or the next doesn't begin as one."""
    held: Piece | None = None
    for piece in pieces:
        if held is not None and piece.kind == held.kind and not _parts(text, held.end, piece.start):
            held = Piece(held.start, piece.end, held.kind, held.context)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _parts(text: str, end: int, start: int) -> bool:
    return ends_sentence(text, end) and begins_sentence(text, start)


def _lead(passage: RetrievedPassage, piece: Piece) -> Lead | None:
    """What a piece needs: in its passage, else what the passage itself needs; none that begins or ends in between."""
    if piece.context is not None:
        start, end = piece.context
        if not (begins_sentence(passage.text, start) and ends_sentence(passage.text, end)):
            return None
        return Lead(
            text=passage.text[start:end],
            passage=passage.text,
            passage_start=passage.char_start,
            passage_id=passage.passage_id,
            heading_path=passage.heading_path,
            char_start=passage.char_start + start,
            char_end=passage.char_start + end,
        )
    return passage.lead if piece.kind in ("item", "row") else None
