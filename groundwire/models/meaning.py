"""Sentences compared with a question as wholes, by a model that reads each of them alone.

One text is one run of the model: what it gives can't depend on what else was asked about, and texts that come again
are not read again.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from .likeness import DIGITS, Row
from .vectors import Vectors

KEPT_SENTENCES, KEPT_QUESTIONS = 8_192, 256


class Embedder(Protocol):
    """Texts into unit vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text."""
        ...


class SentenceMeaning:
    """Compares by one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._sentence = lru_cache(maxsize=KEPT_SENTENCES)(self._read)
        self._question = lru_cache(maxsize=KEPT_QUESTIONS)(self._read)

    def __call__(self, question: str, sentences: Sequence[str]) -> Row:
        """The cosine of each sentence with the question."""
        asked = self._question(question)
        return tuple(round(float(self._sentence(one) @ asked), DIGITS) for one in sentences)

    def _read(self, text: str) -> Vectors:
        row: Vectors = self._embedder.embed([text])[0]
        return row


__all__ = ["SentenceMeaning"]
