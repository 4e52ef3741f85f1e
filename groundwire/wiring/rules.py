"""The words and the classifier of a corpus version, read off the loop.

A draft is judged by the words it was written with, even while a new version arrives.
"""

import asyncio
import re
import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from agents.caveats import Noting
from agents.entities import EntityPattern, EntityValue, Vocabulary
from agents.keywords import Category
from agents.tokens import Analyzer
from agents.topics import Topics
from agents.wording import Wording
from contracts import Misconfigured
from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.intents import Intents
from groundwire.profiles import Profile

from .assembly import Assembly

if TYPE_CHECKING:
    from agents.understand import Classifier, Reading
    from groundwire.corpus import Snapshot

    from .classifier import Built

KEPT = 8
USED: ContextVar[str] = ContextVar("USED", default="")
"""The digest of the configuration that the handler of this task has read last."""


@dataclass(frozen=True)
class Rules:
    """What the intents of one corpus version say, in the agents' own values. `digest`: of the profile and them."""

    intents: Intents | None
    noting: Noting
    wording: Wording
    digest: str
    topics: Topics = field(default_factory=Topics)

    @property
    def vocabulary(self) -> Vocabulary:
        """The entities that questions can name."""
        return self.noting.vocabulary


def rules_without_intents(profile: Profile, digest: str) -> Rules:
    """Every question that is about the documents is one for the system."""
    canonical = profile.synthesize.entity_words == "canonical"
    words = Vocabulary(matching=profile.understand.matching, canonical_only=canonical)
    return Rules(None, noting_of(profile, words), Wording(), digest)


def rules_of(intents: Intents, profile: Profile, digest: str = "") -> Rules:
    """The entities and the wording that a file of intents and a profile define."""
    vocabulary = Vocabulary(
        values=tuple(
            EntityValue(name, value, tuple(words))
            for name, values in intents.entities.items()
            for value, words in values.items()
        ),
        matching=profile.understand.matching,
        canonical_only=profile.synthesize.entity_words == "canonical",
        several=profile.understand.entities == "all",
        patterns=tuple(
            EntityPattern(name, re.compile(pattern)) for name, pattern in intents.patterns.items()
        ),
    )
    noting, topics = noting_of(profile, vocabulary), topics_of(intents, profile)
    return Rules(intents, noting, wording_of(intents), digest, topics)


def topics_of(intents: Intents, profile: Profile) -> Topics:
    """What the keywords of a file of intents stand for."""
    categories = tuple(Category(one.label, tuple(one.keywords.items())) for one in intents.intents)
    analyze = Analyzer(frozenset(profile.terms.stopwords), profile.terms.stems)
    return Topics(categories, profile.understand.matching, analyze)


def noting_of(profile: Profile, vocabulary: Vocabulary) -> Noting:
    """The caveats that a profile gives."""
    terms, part = profile.terms, profile.synthesize
    return Noting(
        vocabulary=vocabulary,
        kinds=frozenset(part.caveats),
        old_after_days=part.old_after_days,
        analyze=Analyzer(frozenset(terms.stopwords), terms.stems),
    )


def wording_of(intents: Intents) -> Wording:
    """The words for readers. Who writes an own `out_of_scope` says there what can be asked, or in `can_help`."""
    given = intents.messages.model_dump(exclude_none=True)
    if "out_of_scope" in given:
        given.setdefault("can_help", "")
    topics = (one.description or one.label.replace("_", " ") for one in intents.intents)
    return Wording(topics=tuple(topics), **given)


class Reader:
    """Snapshots and rules by version, loaded off the loop, each parsed once while in use."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._corpus = assembly.corpus
        self._rules = lru_cache(maxsize=KEPT)(self._rules_of)
        self._teaching = threading.Lock()
        self._taught: dict[str, tuple[Built, Reading]] = {}

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
        rules = self._rules(await self._text(version))
        USED.set(rules.digest)
        return rules

    async def understanding(self, rules: Rules) -> "tuple[Classifier, Reading]":
        """What questions are read with by these rules; without intents every text is a question."""
        from agents.understand import PLAIN, AnyQuestion

        if rules.intents is None:
            return AnyQuestion(), PLAIN
        known = self._taught.get(rules.digest)
        return await asyncio.to_thread(self._teach, rules) if known is None else known

    async def _text(self, version: str | None) -> str | None:
        if self._assembly.intents is not None:
            return self._assembly.intents.text()
        snapshot = None if version is None else await self.snapshot(version)
        return (snapshot or await self.current()).intents

    def _teach(self, rules: Rules) -> "tuple[Built, Reading]":
        from .classifier import build_classifier
        from .reading import reading_of

        assert rules.intents is not None, "without intents there is nothing to learn from"
        with self._teaching:  # one at a time: who asks meanwhile waits for the same
            if rules.digest not in self._taught:
                profile, words = self._assembly.profile, rules.vocabulary
                built = build_classifier(rules.intents, profile, words, self._assembly.kept)
                reading = reading_of(rules.intents, words, profile)
                newest = list(self._taught.items())[1 - KEPT :]
                self._taught = {**dict(newest), rules.digest: (built, reading)}
            return self._taught[rules.digest]

    def _rules_of(self, text: str | None) -> Rules:
        profile, digest = self._assembly.profile, self._assembly.digest_of(text)
        if text is not None:
            return rules_of(intents_file.parse(text, "the intents"), profile, digest)
        if profile.intents is None:
            return rules_without_intents(profile, digest)
        shipped = profiles.shipped_intents(profile.intents)
        return rules_of(intents_file.parse(shipped, f"intents {profile.intents}"), profile, digest)
