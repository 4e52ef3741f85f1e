"""How alike sentences are to a question and to one another: the port, and what does without vectors. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .tokens import stem, words

Row = tuple[float, ...]


@dataclass(frozen=True)
class Likeness:
    """Cosines, each of 0 for no likeness at all. `weights`: what each word of the question says, summing to 1.

    Invariant: `len(asked) == len(words) == len(among)`, one for each sentence; a row of `words` has the best cosine of
    each word of the question with a word of that sentence, a row of `among` those with all sentences.
    """

    asked: Row
    words: tuple[Row, ...]
    among: tuple[Row, ...]
    weights: Row


class Compare(Protocol):
    """Compares sentences with a question, of which `terms` are the words that count."""

    def __call__(self, question: str, terms: Sequence[str], sentences: Sequence[str]) -> Likeness:
        """Their likeness; the same for the same sentences, whatever was compared before."""
        ...


def by_stems(question: str, terms: Sequence[str], sentences: Sequence[str]) -> Likeness:
    """By equal words alone: shares of words in common, 1 for a word that occurs."""
    told = [frozenset(map(stem, words(sentence))) for sentence in sentences]
    asked = frozenset(map(stem, words(question)))
    stems = [stem(term) for term in terms]
    return Likeness(
        asked=tuple(_cosine(asked, one) for one in told),
        words=tuple(tuple(float(term in one) for term in stems) for one in told),
        among=tuple(tuple(_cosine(one, other) for other in told) for one in told),
        weights=tuple(1.0 / len(stems) for _ in stems),
    )


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return float(len(one & other) / (len(one) * len(other)) ** 0.5) if one and other else 0.0
