"""Classification by weighted keywords: the course's rule, and the same on whole words."""

from dataclasses import dataclass

from .entities import Vocabulary
from .matching import Matching, occurring
from .understand import Classification


@dataclass(frozen=True)
class Category:
    """A label and the keywords that speak for it, each with its weight."""

    label: str
    keywords: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class KeywordClassifier:
    """Each category's share of the weight of the keywords that occur, each counted once."""

    categories: tuple[Category, ...]
    vocabulary: Vocabulary
    threshold: float
    matching: Matching = "substring"

    async def classify(self, text: str) -> Classification:
        """The shares and the entities of a question; all shares 0 when no keyword occurs."""
        is_in = occurring(text, self.matching)
        weights = {
            category.label: sum(weight for word, weight in category.keywords if is_in(word))
            for category in self.categories
        }
        total = sum(weights.values())
        return Classification(
            scores={label: weight / total if total else 0.0 for label, weight in weights.items()},
            entities=self.vocabulary.named_in(text),
        )
