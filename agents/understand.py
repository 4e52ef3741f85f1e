"""The first agent: what is asked, and whether it is a question for this system."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from contracts import Clarification, Entity, Intent, OutOfScope, OutOfScopeReason, Query

NO_LABEL = "out_of_scope"
ANY_LABEL = "question"
"""The label of every question in scope where no intents are configured."""


@dataclass(frozen=True)
class Classification:
    """What a classifier sees in a question. Invariant: `sum(scores.values()) in (0, 1)`."""

    scores: Mapping[str, float]
    entities: tuple[Entity, ...] = ()


class Classifier(Protocol):
    """Tells how much of a question belongs to each category."""

    @property
    def threshold(self) -> float:
        """The least share of the best category for a question to be in scope."""
        ...

    async def classify(self, text: str) -> Classification:
        """The shares of the categories in listing order, and the entities named."""
        ...


class Familiarity(Protocol):
    """Tells how far a question may be from the documents; asked where no intents say what is in scope."""

    async def __call__(self, text: str, labels: tuple[str, ...]) -> bool:
        """Whether a text is about what the documents that these labels open are about."""
        ...


class AnyQuestion:
    """Sees a question in every text: the classifier of a corpus without intents."""

    threshold = 0.0

    async def classify(self, text: str) -> Classification:
        """One category, and all of it."""
        return Classification({ANY_LABEL: 1.0 if text else 0.0})


async def understand(
    query: Query, *, classifier: Classifier, familiarity: Familiarity | None = None
) -> Intent | OutOfScope | Clarification:
    """Classify a query: the first category of the highest share, if that reaches the threshold.

    With `familiarity`, a question far from the documents has no category.
    """
    text = " ".join(query.text.split())
    found = await classifier.classify(text)
    is_far = text and familiarity is not None and not await familiarity(text, query.labels)
    if is_far:
        found = Classification(dict.fromkeys(found.scores, 0.0), found.entities)
    label, confidence = max(found.scores.items(), key=lambda item: item[1], default=("", 0.0))
    reason = "far_from_corpus" if is_far else _out_of_scope(text, confidence, classifier.threshold)
    above = sorted(
        (name for name, score in found.scores.items() if 0 < score >= classifier.threshold),
        key=lambda name: -found.scores[name],
    )
    intent = Intent(
        query=query,
        cleaned_text=text,
        label=NO_LABEL if reason else label,
        labels=() if reason else tuple(above),
        confidence=confidence,
        category_scores=dict(found.scores),
        entities=found.entities,
        in_scope=reason is None,
    )
    return intent if reason is None else OutOfScope(intent=intent, reason=reason)


def _out_of_scope(text: str, confidence: float, threshold: float) -> OutOfScopeReason | None:
    if not text:
        return "empty"
    if confidence == 0.0:
        return "no_label"
    return "low_confidence" if confidence < threshold else None
