"""How much of a question's words, the rare ones above all, the documents use. Of documents in sight alone."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..partitions import Labels


@dataclass(frozen=True)
class TermCounts:
    """By the labels that passages carry: how many there are, and how many of them have each term."""

    passages: dict[Labels, int] = field(default_factory=dict)
    having: dict[Labels, Counter[str]] = field(default_factory=dict)

    def add(self, terms: Iterable[str], labels: Labels) -> None:
        """Count a passage's terms."""
        own = tuple(sorted(set(labels)))
        self.passages[own] = self.passages.get(own, 0) + 1
        self.having.setdefault(own, Counter()).update(set(terms))

    def remove(self, terms: Iterable[str], labels: Labels) -> None:
        """Take back what `add` counted: nothing of it is left, not even a zero."""
        own = tuple(sorted(set(labels)))
        self.passages[own] -= 1
        having = self.having[own]
        having.subtract(set(terms))
        for term in set(terms):
            if not having[term]:
                del having[term]
        if not self.passages[own]:
            del self.passages[own], self.having[own]

    def coverage(
        self, terms: Sequence[str], labels: Iterable[str] | None = None, *, without: int = 0
    ) -> float:
        """The share of the terms' idf that is of terms in sight; 0 without terms.

        `labels`: None opens all. `without`: so many passages of each term don't count, such as its own.
        """
        mine = None if labels is None else frozenset(labels)
        opened = [own for own in self.passages if mine is None or not mine.isdisjoint(own)]
        total = sum(self.passages[own] for own in opened)
        counts = [sum(self.having[own].get(term, 0) for own in opened) for term in terms]
        weights = [_idf(total, count) for count in counts]
        if not sum(weights):
            return 0.0
        seen = (weight for weight, count in zip(weights, counts, strict=True) if count > without)
        return sum(seen) / sum(weights)

    def as_json(self) -> list[Mapping[str, object]]:
        """As it is stored."""
        return [
            {"labels": own, "passages": number, "terms": dict(sorted(self.having[own].items()))}
            for own, number in sorted(self.passages.items())
        ]


def _idf(passages: int, having: int) -> float:
    """BM25's, as Lucene writes it: never negative."""
    return math.log(1.0 + (passages - having + 0.5) / (having + 0.5))
