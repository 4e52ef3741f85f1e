"""The names of topics: who lists "money back" under `refund_policy` says that they mean the same. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .keywords import Category
from .matching import Matching, occurs
from .tokens import Analyzer


@dataclass(frozen=True)
class Topics:
    """The labels of a corpus with their keywords, how these are looked for, and what a term is."""

    categories: Sequence[Category] = ()
    matching: Matching = "words"
    analyze: Analyzer = field(default_factory=Analyzer)

    def added_to(self, text: str) -> str:
        """The text with the name of the label that its keywords speak for most, where it has no word of that name."""
        weights = {category.label: self._weight(category, text) for category in self.categories}
        most = max(weights.values(), default=0.0)
        best = [label for label, weight in weights.items() if weight == most > 0.0]
        if len(best) != 1:
            return text
        name = best[0].replace("_", " ").replace("-", " ")
        is_said = not set(self.analyze(name)).isdisjoint(self.analyze(text))
        return text if is_said else f"{text} {name}"

    def _weight(self, category: Category, text: str) -> float:
        return sum(
            weight for word, weight in category.keywords if occurs(word, text, self.matching)
        )
