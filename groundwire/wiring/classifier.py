"""The classifier that a profile and a file of intents ask for, on the embedders that are installed."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agents.entities import Vocabulary
from agents.keywords import Category, KeywordClassifier
from agents.understand import Classification
from groundwire.intents import Intents
from groundwire.profiles import Profile

if TYPE_CHECKING:
    from groundwire.intents.learned import Calibration, Learned
    from groundwire.models import Embedder

WORD = re.compile(r"[^\W_]{2}")
"""Single letters, however many, are near to nothing that could be meant."""


@dataclass(frozen=True)
class ExampleClassifier:
    """A learned classifier as the agents' port; it leaves the loop for the embedders' time."""

    learned: "Learned"
    embedders: "Sequence[Embedder]"
    vocabulary: Vocabulary
    threshold: float
    texts: tuple[str, ...]
    """What it was learned from, in the order of the learned points."""

    async def classify(self, text: str) -> Classification:
        """The shares, the entities and the margin; all shares 0 for a text without a word of two characters."""
        entities = self.vocabulary.named_in(text)
        if not WORD.search(text):
            return Classification(dict.fromkeys(self.learned.names, 0.0), entities)
        scores, margin = await asyncio.to_thread(self.judge, text)
        return Classification(scores, entities, margin)

    def judge(self, text: str) -> tuple[dict[str, float], float]:
        """The share of each label, and the margin over the calibrated threshold."""
        shares, margins = self.learned.judge([text], [one.embed([text]) for one in self.embedders])
        found = shares[0].astype(float)
        found /= found.sum()
        return dict(zip(self.learned.names, found.tolist(), strict=True)), float(margins[0])

    def nearest(self, text: str, label: str, count: int) -> tuple[str, ...]:
        """The examples of a label that a text is nearest to, for people."""
        dense = [one.embed([text]) for one in self.embedders]
        return tuple(
            f"near {self.texts[place]!r}, cosine {cosine:.2f}"
            for place, cosine in self.learned.nearest(text, dense, label, count)
        )


Built = KeywordClassifier | ExampleClassifier


def is_learned(intents: Intents, profile: Profile) -> bool:
    """Whether the classifier learns from the examples of the file."""
    return intents.has_examples and profile.understand.classifier != "keywords"


def build_classifier(
    intents: Intents, profile: Profile, vocabulary: Vocabulary, root: Path | None
) -> Built:
    """The classifier: learned from examples where there are some and the profile says so, else keywords.

    Trains for seconds, or reads what is kept under `root`: call it off the loop.
    """
    if not is_learned(intents, profile):
        return keyword_classifier(intents, profile, vocabulary)
    from groundwire.intents.questions import Lesson
    from groundwire.intents.teaching import taught
    from groundwire.models import open_embedder

    embedders = [open_embedder(name) for name in installed_embedders(profile)]
    lesson = Lesson.of(intents, keywords=profile.understand.classifier == "combined")
    learned = taught(lesson, embedders, root)
    texts = tuple(text for text, _ in (*lesson.examples, *lesson.keywords))
    return ExampleClassifier(learned, embedders, vocabulary, profile.understand.threshold, texts)


def keyword_classifier(
    intents: Intents, profile: Profile, vocabulary: Vocabulary
) -> KeywordClassifier:
    """The course's rule, with the threshold of the file or else of the profile."""
    given = intents.threshold
    return KeywordClassifier(
        categories=tuple(
            Category(intent.label, tuple(intent.keywords.items())) for intent in intents.intents
        ),
        vocabulary=vocabulary,
        threshold=profile.understand.threshold if given is None else given,
        matching=profile.understand.matching,
    )


def installed_embedders(profile: Profile) -> tuple[str, ...]:
    """Those of the profile's embedders whose packages are here."""
    from groundwire.models.choice import missing

    return tuple(name for name in profile.understand.embedders if not missing(name))


def calibration_line(found: "Calibration", profile: Profile) -> str:
    """What was calibrated, in a sentence for people."""
    names = installed_embedders(profile)
    by = ", ".join(names) if names else "words alone (install groundwire[vectors] for more)"
    rates = [
        f"{rate:.0%} of {what}"
        for rate, what in (
            (found.foreign, "foreign questions"),
            (found.near, "questions of a label left out"),
        )
        if rate is not None
    ]
    expected = f"; expected to pass by mistake: {', '.join(rates)}" if rates else ""
    return (
        f"scope threshold {found.threshold:.2f}, by {by}: keeps {found.kept or 0:.0%} of "
        f"{found.held_out} held-out examples (aim {found.keep:.0%}){expected}"
    )
