"""Sentences compared with a question word by word, by static vectors: no model runs, so it takes a millisecond.

Rounded, so that the same sentences are equally alike whatever stood beside them in a product of matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from .vectors import Vectors, unit

DIGITS = 5
KEPT_TEXTS, KEPT_WORDS = 4_096, 32_768
Row = tuple[float, ...]


class Static(Protocol):
    """Texts into the means of their tokens' vectors, which are longer for words that say more."""

    def means(self, texts: Sequence[str]) -> Vectors:
        """One row for each text."""
        ...


@dataclass(frozen=True)
class Alike:
    """Cosines, as the agents' port wants them."""

    asked: Row
    words: tuple[Row, ...]
    among: tuple[Row, ...]
    weights: Row


class WordLikeness:
    """Compares by one static embedder. Texts that come again are not embedded again."""

    def __init__(self, static: Static) -> None:
        self._static = static
        self._sentence = lru_cache(maxsize=KEPT_TEXTS)(self._read)
        self._word = lru_cache(maxsize=KEPT_WORDS)(self._mean)

    def __call__(self, question: str, terms: Sequence[str], sentences: Sequence[str]) -> Alike:
        """The likeness of each sentence with the question, its terms, and the others."""
        read = [self._sentence(sentence) for sentence in sentences]
        whole = unit(self._static.means([question]))[0]
        means = [self._word(term) for term in terms]
        asked = unit(np.stack(means)) if means else None
        lengths = np.array([float(np.linalg.norm(mean)) for mean in means])
        texts = np.stack([text for text, _ in read]) if read else np.zeros((0, len(whole)))
        return Alike(
            asked=tuple(_rounded(texts @ whole)),
            words=tuple(() if asked is None else _best(asked, words) for _, words in read),
            among=tuple(tuple(_rounded(row)) for row in texts @ texts.T),
            weights=tuple(_rounded(lengths / (lengths.sum() or 1.0))),
        )

    def _read(self, sentence: str) -> tuple[Vectors, Vectors]:
        means = [self._word(word) for word in _words(sentence)]
        rows = np.stack(means) if means else np.zeros((1, len(self._word(""))), np.float32)
        return unit(self._static.means([sentence]))[0], unit(rows)

    def _mean(self, word: str) -> Vectors:
        found: Vectors = self._static.means([word])[0]
        return found


def _words(sentence: str) -> list[str]:
    kept = "".join(char if char.isalnum() else " " for char in sentence.lower())
    return list(dict.fromkeys(kept.split()))


def _best(asked: Vectors, words: Vectors) -> Row:
    return tuple(_rounded((asked @ words.T).max(axis=1)))


def _rounded(row: "np.typing.NDArray[np.floating]") -> list[float]:
    found: list[float] = np.round(row.astype(np.float64), DIGITS).tolist()
    return found
