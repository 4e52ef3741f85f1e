"""The understand agent alone, on labels that are given as examples: for measuring it without the other four."""

import math
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable

from agents.entities import Vocabulary
from agents.keywords import Category, KeywordClassifier
from agents.tokens import words
from agents.understand import Reading, understand
from contracts import Clarification, OutOfScope, Query
from groundwire.intents.learned import Learned
from groundwire.profiles import Profile

from .classifier import Built, ExampleClassifier, installed_embedders
from .languages import Foreign

MOST_KEYWORDS = 5
Read = Callable[[str], Awaitable[dict[str, float]]]


def build_read(classifier: Built, profile: Profile) -> Read:
    """The share of each label in a question, by the agent that a worker of the profile runs, no corpus behind it."""
    part = profile.understand
    foreign = Foreign(frozenset({"en"})) if part.languages else None
    reading = Reading(splits=part.splits, is_foreign=foreign)

    async def read(text: str) -> dict[str, float]:
        query = Query(text=text, session_id="bench")
        found = await understand(query, classifier=classifier, reading=reading)
        intent = found.intent if isinstance(found, OutOfScope | Clarification) else found
        return intent.category_scores

    return read


def learned_classifier(learned: Learned, profile: Profile) -> ExampleClassifier:
    """What was learned, on the profile's embedders without a cache."""
    from groundwire.models import open_embedder

    embedders = [open_embedder(name) for name in installed_embedders(profile)]
    return ExampleClassifier(learned, embedders, Vocabulary(), profile.understand.threshold, ())


def listed_classifier(pairs: Iterable[tuple[str, str]], profile: Profile) -> KeywordClassifier:
    """The five most telling words of each label of these examples, each weighing how surely it means the label."""
    part = profile.understand
    having: dict[str, Counter[str]] = defaultdict(Counter)
    for text, label in pairs:
        having[label].update(set(words(text)))
    total = sum(having.values(), Counter[str]())
    labels = len(having)
    spread = Counter(word for counts in having.values() for word in counts)

    def tells(label: str, word: str) -> tuple[float, str]:
        return -having[label][word] * math.log((1 + labels) / spread[word]), word

    categories = tuple(
        Category(
            label,
            tuple(
                (word, having[label][word] / total[word])
                for word in sorted(having[label], key=lambda word: tells(label, word))[
                    :MOST_KEYWORDS
                ]
            ),
        )
        for label in sorted(having)
    )
    return KeywordClassifier(categories, Vocabulary(), part.threshold, part.matching)
