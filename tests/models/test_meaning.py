"""Sentences compared with a question as wholes."""

from collections.abc import Sequence

import numpy as np
import pytest

from groundwire.models import Vectors, missing, open_embedder
from groundwire.models.meaning import SentenceMeaning
from groundwire.models.vectors import unit

SENTENCES = (
    "A boat may leave at six.",
    "It is free.",
    "Whoever brings a box that weighs more than nine pounds pays for two, on every day but Sunday.",
    "The café “Zephyr” opens at 7:30 — not before!",
    "",
    "Boats leave early.",
)
QUESTION = "When does the boat leave?"


class Counting:
    """Embeds by length, and says how often it was asked, and for how many."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(len(texts))
        rows = np.array([[len(text), 1.0] for text in texts], np.float32)
        return unit(rows)


def test_a_text_is_read_once_and_alone() -> None:
    """So what stands beside it can't change its number, and a document that is warm costs nothing."""
    embedder = Counting()
    mean = SentenceMeaning(embedder)
    first = mean(QUESTION, SENTENCES)
    assert embedder.asked == [1] * (len(SENTENCES) + 1)
    assert mean(QUESTION, SENTENCES) == first
    assert len(embedder.asked) == len(SENTENCES) + 1


@pytest.mark.skipif(bool(missing("minilm")), reason="not installed: groundwire[vectors]")
def test_a_sentence_has_one_likeness_whatever_it_is_compared_beside() -> None:
    """Alone, in any order, or behind others: the same digits; and the sentence that answers is nearest."""
    mean = SentenceMeaning(open_embedder("minilm"))
    together = dict(zip(SENTENCES, mean(QUESTION, SENTENCES), strict=True))
    for order in (SENTENCES[::-1], SENTENCES[2:] + SENTENCES[:2]):
        again = SentenceMeaning(open_embedder("minilm"))
        assert dict(zip(order, again(QUESTION, order), strict=True)) == together
    for one in SENTENCES:
        assert SentenceMeaning(open_embedder("minilm"))(QUESTION, [one]) == (together[one],)
    assert max(together, key=lambda one: together[one]) in (SENTENCES[0], SENTENCES[5])
