"""Texts as rows of hashed TF-IDF: their words and pairs of words, and the pieces of their words."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Counts = NDArray[np.uint8]
COLUMNS = 2_048
"""Of each kind. Measured on CLINC150's validation split; collisions cost nothing that could be seen."""
MOST_COUNTED = 255
PIECE_SIZES = (2, 3, 4, 5)
_WORD = re.compile(r"[^\W_]+")


def word_terms(text: str) -> list[str]:
    """Words, and words with their right neighbour."""
    found = _WORD.findall(text.lower())
    return found + [f"{left} {right}" for left, right in pairwise(found)]


def piece_terms(text: str) -> list[str]:
    """Runs of 2 to 5 characters within words, whose ends count as characters."""
    return [
        padded[at : at + size]
        for word in _WORD.findall(text.lower())
        for padded in (f" {word} ",)
        for size in PIECE_SIZES
        for at in range(len(padded) - size + 1)
    ]


KINDS: tuple[Callable[[str], list[str]], ...] = (word_terms, piece_terms)


@dataclass(frozen=True)
class Terms:
    """How rare each column is among the examples: what a row is weighted by."""

    rarity: Rows

    @classmethod
    def of(cls, counts: Counts) -> "Terms":
        """Learned from the counts of examples."""
        seen = (counts > 0).sum(axis=0)
        return cls((np.log((1 + len(counts)) / (1 + seen)) + 1).astype(np.float32))

    def rows(self, counts: Counts) -> Rows:
        """One row for each text: a unit vector of each kind, side by side."""
        rows = np.log1p(counts, dtype=np.float32)
        rows *= self.rarity
        for at in range(len(KINDS)):
            part = rows[:, at * COLUMNS : (at + 1) * COLUMNS]
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            part /= np.where(lengths > 0, lengths, 1)
        return rows


def counts_of(texts: Sequence[str]) -> Counts:
    """How often each column's terms occur, by text."""
    rows = np.zeros((len(texts), COLUMNS * len(KINDS)), dtype=np.uint8)
    for row, text in enumerate(texts):
        for kind, terms_of in enumerate(KINDS):
            for term, times in Counter(terms_of(text)).items():
                column = kind * COLUMNS + crc32(term.encode(errors="surrogatepass")) % COLUMNS
                rows[row, column] = min(int(rows[row, column]) + times, MOST_COUNTED)
    return rows
