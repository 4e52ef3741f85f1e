"""Questions that leave open what they are about: "how much is it?" where three products are sold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts import Entity

from .entities import Vocabulary
from .matching import occurs
from .tokens import stem, words

POINTERS = frozenset({"it", "this", "that", "these", "those", "they", "them", "one", "ones"})
MOST_WORDS = 12


@dataclass(frozen=True)
class Asking:
    """When to ask back: for the first of `entities` that has a choice, in a question that only points.

    `keywords`: of each label, the words that say no more than the label itself.
    """

    vocabulary: Vocabulary
    entities: Sequence[str]
    stopwords: frozenset[str]
    keywords: Mapping[str, Sequence[str]]

    def options(self, text: str, label: str, named: Sequence[Entity]) -> tuple[str, ...]:
        """The values to choose from; none where the question says by itself what it is about."""
        if named or not self._only_points(text, label):
            return ()
        return self.vocabulary.options(self.entities)

    def _only_points(self, text: str, label: str) -> bool:
        asked = words(text)
        if len(asked) > MOST_WORDS or POINTERS.isdisjoint(asked):
            return False
        said = {stem(word) for word in words(" ".join(self._said(text, label)))}
        return all(
            word in POINTERS or word in self.stopwords or stem(word) in said for word in asked
        )

    def _said(self, text: str, label: str) -> list[str]:
        return [
            word
            for word in self.keywords.get(label, ())
            if occurs(word, text, self.vocabulary.matching)
        ]
