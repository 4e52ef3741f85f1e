"""The words and the classifier of a corpus version, read off the loop.

A draft is judged by the words it was written with, even while a new version arrives.
"""

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from agents.entities import EntityValue, Vocabulary
from agents.wording import Wording
from contracts import Misconfigured
from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.intents import Intents
from groundwire.profiles import Profile

from .assembly import Assembly

if TYPE_CHECKING:
    from agents.understand import Classifier
    from groundwire.corpus import Snapshot


@dataclass(frozen=True)
class Rules:
    """What the intents of one corpus version say, in the agents' own values."""

    classifier: "Classifier"
    vocabulary: Vocabulary
    wording: Wording
    has_intents: bool = True


def rules_without_intents(profile: Profile) -> Rules:
    """Every question that is about the documents is one for the system."""
    from agents.understand import AnyQuestion

    canonical = profile.synthesize.entity_words == "canonical"
    words = Vocabulary(matching=profile.understand.matching, canonical_only=canonical)
    return Rules(AnyQuestion(), words, Wording(), has_intents=False)


def rules_of(intents: Intents, profile: Profile) -> Rules:
    """The classifier, entities and wording that a file of intents and a profile define."""
    from agents.keywords import Category, KeywordClassifier

    matching = profile.understand.matching
    vocabulary = Vocabulary(
        values=tuple(
            EntityValue(name, value, tuple(words))
            for name, values in intents.entities.items()
            for value, words in values.items()
        ),
        matching=matching,
        canonical_only=profile.synthesize.entity_words == "canonical",
    )
    given = intents.threshold
    classifier = KeywordClassifier(
        categories=tuple(
            Category(intent.label, tuple(intent.keywords.items())) for intent in intents.intents
        ),
        vocabulary=vocabulary,
        threshold=profile.understand.threshold if given is None else given,
        matching=matching,
    )
    return Rules(classifier, vocabulary, Wording(**intents.messages.model_dump(exclude_none=True)))


class Reader:
    """Snapshots and rules by version, loaded off the loop, each parsed once while in use."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._corpus = assembly.corpus
        self._rules = lru_cache(maxsize=8)(self._rules_of)

    async def snapshot(self, version: str) -> "Snapshot | None":
        """A stored version; None if there is none of that name."""
        if self._corpus.holds(version):
            return self._corpus.snapshot(version)
        return await asyncio.to_thread(self._corpus.snapshot, version)

    async def current(self) -> "Snapshot":
        """The version that answers now."""
        version = self._corpus.current_version()
        snapshot = await self.snapshot(version)
        if snapshot is None:
            raise Misconfigured(f"the current snapshot {version} is missing; ingest again")
        return snapshot

    async def rules(self, version: str | None = None) -> Rules:
        """The rules of a version; those of the current one for a version that isn't there."""
        if self._assembly.intents is not None:
            return self._rules(None)
        snapshot = None if version is None else await self.snapshot(version)
        return self._rules((snapshot or await self.current()).intents)

    def _rules_of(self, text: str | None) -> Rules:
        profile = self._assembly.profile
        if self._assembly.intents is not None:
            return rules_of(self._assembly.intents, profile)
        if text is not None:
            return rules_of(intents_file.parse(text, "the corpus's intents.toml"), profile)
        if profile.intents is None:
            return rules_without_intents(profile)
        shipped = profiles.shipped_intents(profile.intents)
        return rules_of(intents_file.parse(shipped, f"intents {profile.intents}"), profile)
