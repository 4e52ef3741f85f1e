"""Documents into passages. Spans of the text, so that a passage is always a verbatim quote.

A method is a function from a document and sizes to passages; `METHODS` is where another one is added.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ..model import Document, Passage
from .fixed import fixed
from .structure import structure
from .windows import windows

__all__ = ["CHUNKING_VERSION", "METHODS", "Chunking", "Method", "chunk"]

CHUNKING_VERSION = 3
"""Raised whenever the same document and sizes give other passages: what was cut before is cut again."""

Method = Callable[[Document, int, int], Iterable[Passage]]
"""From a document, a size and an overlap, in characters, to its passages in order of their place."""

METHODS: Mapping[str, Method] = {
    "fixed": fixed,
    "structure": structure,
    "windows": windows,
}


@dataclass(frozen=True)
class Chunking:
    """How documents are cut. Sizes in characters; invariant: `0 <= overlap < size`.

    `fixed`: windows of `size` that overlap. `structure`: whole blocks and sentences up to `size`, headings not counted.
    `windows`: from every sentence on, as many as fit into `size`.
    """

    method: str = "structure"
    size: int = 700
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(
                f"chunking: no method {self.method!r}; there are: {', '.join(METHODS)}"
            )
        if not 0 <= self.overlap < self.size:
            raise ValueError(
                f"chunking: overlap {self.overlap} must be at least 0 and below size {self.size}"
            )


def chunk(document: Document, chunking: Chunking) -> Document:
    """The document with its passages; one that came in passages keeps them."""
    if document.passages:
        return document
    passages = METHODS[chunking.method](document, chunking.size, chunking.overlap)
    return replace(document, passages=tuple(passages))
