"""The first agent: what is asked, and whether it is a question for this system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts import Clarification, Entity, Intent, OutOfScope, OutOfScopeReason, Query

from .cleaning import clean
from .compound import split
from .underspecified import Asking

NO_LABEL = "out_of_scope"
ANY_LABEL = "question"
"""The label of every question in scope where no intents are configured."""


@dataclass(frozen=True)
class Classification:
    """What a classifier sees in a question. Invariant: `sum(scores.values()) in (0, 1)`.

    `margin`: how far the question is above (or below 0: under) what is in scope; None: the best share decides.
    """

    scores: Mapping[str, float]
    entities: tuple[Entity, ...] = ()
    margin: float | None = None


class Classifier(Protocol):
    """Tells how much of a question belongs to each category."""

    @property
    def threshold(self) -> float:
        """The least share of a category to be named, and of the best where there is no margin."""
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


class Languages(Protocol):
    """Tells when a question is surely in a language that isn't answered."""

    def __call__(self, text: str) -> bool:
        """Whether the text is in another language than those that are answered, beyond doubt."""
        ...


@dataclass(frozen=True)
class Reading:
    """How questions are read beyond their classification; as it stands, all of it is off."""

    splits: bool = False
    asking: Asking | None = None
    is_foreign: Languages | None = None


PLAIN = Reading()


async def understand(
    query: Query,
    *,
    classifier: Classifier,
    reading: Reading = PLAIN,
    familiarity: Familiarity | None = None,
) -> Intent | OutOfScope | Clarification:
    """Classify a query: the first category of the highest share, if the question is in scope.

    With `familiarity`, a question far from the documents has no category.
    """
    text = clean(query.text)
    found = await classifier.classify(text)
    is_far = text and familiarity is not None and not await familiarity(text, query.labels)
    if is_far:
        found = Classification(dict.fromkeys(found.scores, 0.0), found.entities)
    parts = await _parts(text, classifier) if reading.splits else ()
    reason = "far_from_corpus" if is_far else _out_of_scope(text, found, classifier.threshold)
    if reason in ("no_label", "low_confidence") and len(parts) > 1:
        reason = None  # torn between labels because it asks for several, and each is in scope
    if text and reading.is_foreign is not None and reading.is_foreign(text):
        reason = "language"
    label, confidence = best(found.scores)
    labels = labels_of(found, classifier.threshold, [part.label for part in parts])
    intent = Intent(
        query=query,
        cleaned_text=text,
        label=NO_LABEL if reason else label,
        labels=() if reason else labels,
        sub_questions=() if reason else tuple(part.text for part in parts),
        confidence=confidence,
        category_scores=dict(found.scores),
        entities=found.entities,
        in_scope=reason is None,
    )
    if reason is not None:
        return OutOfScope(intent=intent, reason=reason)
    options = reading.asking.options(text, label, found.entities) if reading.asking else ()
    return Clarification(intent=intent, options=options) if options else intent


def best(scores: Mapping[str, float]) -> tuple[str, float]:
    """The first listed of the highest share, and that; of a tie the order of the configuration decides."""
    return max(scores.items(), key=lambda item: item[1], default=("", 0.0))


def labels_of(found: Classification, threshold: float, asked: Sequence[str]) -> tuple[str, ...]:
    """The label, then by falling share: those that reach the threshold, tie with it, or that a part asks for."""
    most = best(found.scores)[1]
    above = {name for name, score in found.scores.items() if score > 0 and score >= threshold}
    tied = {name for name, score in found.scores.items() if score == most}
    order = list(found.scores)
    return tuple(
        sorted(above | tied | set(asked), key=lambda name: (-found.scores[name], order.index(name)))
    )


@dataclass(frozen=True)
class _Part:
    text: str
    label: str


async def _parts(text: str, classifier: Classifier) -> tuple[_Part, ...]:
    """The sub-questions that are in scope; none unless they ask for different labels."""
    found = [(part, await classifier.classify(part)) for part in split(text)]
    parts = tuple(
        _Part(part, best(seen.scores)[0])
        for part, seen in found
        if _out_of_scope(part, seen, classifier.threshold) is None
    )
    return parts if len({part.label for part in parts}) > 1 else ()


def _out_of_scope(text: str, found: Classification, threshold: float) -> OutOfScopeReason | None:
    if not text:
        return "empty"
    confidence = best(found.scores)[1]
    if confidence == 0.0:
        return "no_label"
    is_sure = confidence >= threshold if found.margin is None else found.margin >= 0.0
    return None if is_sure else "low_confidence"
