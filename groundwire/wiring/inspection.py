"""Intents under the lens: what a file says, how a question is read by it and why, which labels overlap."""

from dataclasses import dataclass, field
from pathlib import Path

from agents.matching import occurs
from agents.understand import best, understand
from contracts import Clarification, Misconfigured, OutOfScope, Query
from groundwire import intents as intents_file
from groundwire import profiles
from groundwire.profiles import Profile

from .assembly import CorpusIntents, load_profile
from .classifier import Built, ExampleClassifier, build_classifier, calibration_line
from .reading import reading_of
from .rules import Rules, rules_of

SHOWN_EXAMPLES = 3
FEW_EXAMPLES = 5


@dataclass(frozen=True)
class Label:
    """One label and how much it is told by."""

    label: str
    description: str
    keywords: int
    examples: int


@dataclass(frozen=True)
class Check:
    """What a file defines. `scope`: how its threshold came about; `notes`: what could be better."""

    source: str
    classifier: str
    labels: tuple[Label, ...]
    entities: dict[str, tuple[str, ...]]
    patterns: tuple[str, ...]
    threshold: float
    scope: str
    keep: float | None = None
    kept: float | None = None
    held_out: int | None = None
    accuracy: float | None = None
    false_accept_foreign: float | None = None
    false_accept_near: float | None = None
    temperature: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """How a question is read. `tied`: labels of the same share as the winner; `why`: what spoke for it."""

    question: str
    cleaned: str
    outcome: str
    reason: str | None
    label: str
    winner: str
    confidence: float
    margin: float | None
    scores: dict[str, float]
    tied: tuple[str, ...]
    labels: tuple[str, ...]
    sub_questions: tuple[str, ...]
    entities: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True)
class Overlap:
    """Two labels, how many held-out examples of the one were taken for the other, and the keywords they share."""

    label: str
    other: str
    mistaken: int = 0
    shared: tuple[str, ...] = field(default=())


class Inspector:
    """A file of intents with a profile, its classifier trained."""

    def __init__(
        self, profile: str | Profile, source: Path | CorpusIntents | None, kept: Path | None
    ) -> None:
        """`source`: a file or the folder it lies in; intents of a corpus; None: those the profile ships with."""
        self.profile = load_profile(profile)
        self.source, text = _text_of(source, self.profile)
        self.intents = intents_file.parse(text, self.source)
        self.rules: Rules = rules_of(self.intents, self.profile)
        self.classifier: Built = build_classifier(
            self.intents, self.profile, self.rules.vocabulary, kept
        )

    def check(self) -> Check:
        """What the file defines, and how the scope threshold came about."""
        intents, classifier = self.intents, self.classifier
        plain = Check(
            source=self.source,
            classifier="keywords",
            labels=tuple(
                Label(one.label, one.description, len(one.keywords), len(one.examples))
                for one in intents.intents
            ),
            entities={name: tuple(values) for name, values in intents.entities.items()},
            patterns=tuple(intents.patterns),
            threshold=classifier.threshold,
            scope=f"the best label's share of the keywords' weight, at least {classifier.threshold:g}",
            notes=self._notes(),
        )
        if not isinstance(classifier, ExampleClassifier):
            return plain
        found = classifier.learned.calibration
        measured = {
            "classifier": self.profile.understand.classifier,
            "threshold": found.threshold,
            "scope": calibration_line(found, self.profile),
            "keep": found.keep,
            "kept": found.kept,
            "held_out": found.held_out,
            "accuracy": found.accuracy,
            "false_accept_foreign": found.foreign,
            "false_accept_near": found.near,
            "temperature": found.temperature,
        }
        return Check(**{**vars(plain), **measured})

    async def test(self, question: str) -> Shown:
        """How the question is read, by the very agent that workers run."""
        query = Query(text=question, session_id="intents")
        reading = reading_of(self.intents, self.rules.vocabulary, self.profile)
        found = await understand(query, classifier=self.classifier, reading=reading)
        intent = found.intent if isinstance(found, OutOfScope | Clarification) else found
        winner, share = best(intent.category_scores)
        seen = await self.classifier.classify(intent.cleaned_text)
        return Shown(
            question=question,
            cleaned=intent.cleaned_text,
            outcome=found.type,
            reason=found.reason if isinstance(found, OutOfScope) else None,
            label=intent.label,
            winner=winner if share else "",
            confidence=intent.confidence,
            margin=seen.margin,
            scores=dict(sorted(intent.category_scores.items(), key=lambda one: -one[1])),
            tied=tuple(
                label
                for label, score in intent.category_scores.items()
                if share and score == share and label != winner
            ),
            labels=intent.labels,
            sub_questions=intent.sub_questions,
            entities=tuple((entity.name, entity.value) for entity in intent.entities),
            options=found.options if isinstance(found, Clarification) else (),
            why=self._why(intent.cleaned_text, winner) if share else (),
        )

    def confusions(self) -> tuple[Overlap, ...]:
        """The labels that overlap: most mistaken first, then those that only share keywords."""
        shared = self._shared_keywords()
        mistaken: dict[tuple[str, str], int] = {}
        if isinstance(self.classifier, ExampleClassifier):
            for label, other, times in self.classifier.learned.calibration.confusions:
                mistaken[label, other] = times
        pairs = [*mistaken, *(pair for pair in shared if pair not in mistaken)]
        return tuple(
            Overlap(*pair, mistaken.get(pair, 0), shared.get(_sorted(pair), ())) for pair in pairs
        )

    def _why(self, text: str, winner: str) -> tuple[str, ...]:
        words = tuple(
            f"keyword {word!r}, weight {weight:g}"
            for intent in self.intents.intents
            if intent.label == winner
            for word, weight in intent.keywords.items()
            if occurs(word, text, self.profile.understand.matching)
        )
        if not isinstance(self.classifier, ExampleClassifier):
            return words
        return (*self.classifier.nearest(text, winner, SHOWN_EXAMPLES), *words)

    def _shared_keywords(self) -> dict[tuple[str, str], tuple[str, ...]]:
        found: dict[tuple[str, str], list[str]] = {}
        matching = self.profile.understand.matching
        intents = self.intents.intents
        for one in intents:
            for other in intents:
                if one.label != other.label:
                    hits = [
                        word
                        for word in one.keywords
                        if any(occurs(word, longer, matching) for longer in other.keywords)
                    ]
                    if hits:
                        found.setdefault(_sorted((one.label, other.label)), []).extend(hits)
        return {pair: tuple(dict.fromkeys(words)) for pair, words in found.items()}

    def _notes(self) -> tuple[str, ...]:
        intents = self.intents
        if not intents.has_examples:
            return ("no examples: only listed keywords are recognised",)
        few = [one.label for one in intents.intents if len(one.examples) < FEW_EXAMPLES]
        told = f"fewer than {FEW_EXAMPLES} examples: {', '.join(few)}"
        return (told,) if few else ()


def _sorted(pair: tuple[str, str]) -> tuple[str, str]:
    one, two = sorted(pair)
    return one, two


def _text_of(source: Path | CorpusIntents | None, profile: Profile) -> tuple[str, str]:
    if isinstance(source, CorpusIntents) and source.text is not None:
        return f"the intents of corpus {source.version}", source.text
    if isinstance(source, Path):
        path = source / intents_file.FILE_NAME if source.is_dir() else source
        return str(path), intents_file.read_text(path)
    if profile.intents is None:
        raise Misconfigured(
            "no intents are configured, the documents decide what is in scope; name a file to look at"
        )
    return f"shipped intents {profile.intents}", profiles.shipped_intents(profile.intents)
