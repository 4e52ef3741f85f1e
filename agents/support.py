"""How far evidence bears out a claim that doesn't quote it: for text that isn't verbatim. Pure.

A claim is held against one or two adjacent sentences, never against a whole text: there, words from everywhere would
speak for it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from .tokens import stem, words

ALIKE = 4
"""Words that begin with as many equal letters are forms of one, the more so the more they share."""
NEAR = 3
"""How many words a negation reaches."""
MISSED = 0.5
"""A term whose best counterpart is less like it than this has none."""
_NEGATIONS = (
    "not no never none nobody nothing neither nor without cannot cant isn aren wasn weren don doesn "
    "didn won wouldn hasn haven hadn shouldn couldn"
)
NEGATIONS = frozenset(map(stem, _NEGATIONS.split()))
_FUNCTION_WORDS = (
    "a an the of in on at to and or is are was were be been by for with as it its that this from they he she his her "
    "their i you we"
)
FUNCTION_WORDS = frozenset(map(stem, _FUNCTION_WORDS.split()))
"""Words that aren't terms. Fewer than search leaves out: what a sentence does with its terms counts here."""
SPEAKERS = frozenset({"i", "my", "me", "im", "you", "your"})
_CLOSERS = " \t\n\"'”’)"
_PARTICLES = "yes yeah yep yea no not nope well oh ok okay sure right actually really absolutely wow hmm ah haha"
PARTICLES = frozenset(_PARTICLES.split())
"""What a reply may begin with, and is no name."""
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve"
COUNTS = {word: str(count) for count, word in enumerate(_COUNTS.split())}
_NAME = re.compile(r"(?<![.!?:;\"“(])\s([^\W\d_a-z][\w'’-]+)")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th|s)$")


@dataclass(frozen=True)
class Features:
    """What tells for a claim; each name is that of a weight, and none may be negative.

    `words`: the share of the claim's that the evidence has; `terms`: the mean likeness to their best counterparts.
    Less than 0 where something tells against it: `missing` terms, an unseen number or name, a `negation` of a term on
    one side alone (the other is the sentence that shares the most), a `speaker` or listener that the evidence hasn't,
    being a `question`, its `length`. Shared pairs and triples of words and the longest common subsequence got no
    weight beside these.
    """

    words: float
    terms: float
    missing: float
    numbers: float
    names: float
    negation: float
    speaker: float
    question: float
    length: float


@dataclass(frozen=True)
class LinearSupport:
    """The features, weighed; of the windows of the evidence the best counts. `bias`: the log odds of no feature."""

    weights: Mapping[str, float]
    bias: float

    def __call__(self, claim: str, evidence: Sequence[str]) -> float:
        """The probability by the best one or two adjacent sentences; 0 without evidence."""
        odds = max((self.log_odds(claim, window) for window in windows(evidence)), default=None)
        return 0.0 if odds is None else 1.0 / (1.0 + math.exp(-odds))

    def log_odds(self, claim: str, window: Sequence[str]) -> float:
        """The score by one window alone."""
        told: dict[str, float] = asdict(features(claim, window))
        return self.bias + sum(self.weights.get(name, 0.0) * value for name, value in told.items())


def windows(evidence: Sequence[str]) -> list[tuple[str, ...]]:
    """Every sentence, and every two that follow each other."""
    return [*((one,) for one in evidence), *pairwise(evidence)]


def features(claim: str, window: Sequence[str]) -> Features:
    """What tells for a claim, held against the sentences of a window."""
    said, sentences = _stems(claim), [_stems(sentence) for sentence in window]
    known = frozenset(word for sentence in sentences for word in sentence)
    nearest = max(sentences, key=lambda sentence: len(set(sentence) & set(said)))
    terms = [term for term in said if term not in FUNCTION_WORDS] or said
    likeness = [_likeness(term, known) for term in terms]
    missing = sum(like < MISSED for like in likeness)
    return Features(
        words=_share(word in known for word in said),
        terms=sum(likeness) / max(1, len(likeness)),
        missing=-math.log1p(missing),
        numbers=-float(not _numbers(claim) <= _numbers(" ".join(window))),
        names=-float(not _names(claim) <= known),
        negation=-float(bool((_negated(said) ^ _negated(nearest)) & set(nearest) & set(said))),
        speaker=-float(bool(SPEAKERS & set(said) - known)),
        question=-float(claim.rstrip(_CLOSERS).endswith("?")),
        length=-math.log(max(1, len(said))),
    )


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _numbers(text: str) -> set[str]:
    """Its numbers, however they are written; without a digit only small ones are known."""
    found = words(text)
    digits = {_ORDINAL.sub(r"\1", word) for word in found if any(map(str.isdigit, word))}
    return digits | {COUNTS[word] for word in found if word in COUNTS}


def _names(text: str) -> set[str]:
    """The stems of capitalised words, those that begin a sentence aside."""
    found = {part for name in _NAME.findall(text) for part in _stems(name)}
    return found - FUNCTION_WORDS - SPEAKERS - PARTICLES


def _negated(stems: Sequence[str]) -> set[str]:
    """The terms shortly after a negation."""
    places = (at for at, word in enumerate(stems) if word in NEGATIONS)
    near = (word for at in places for word in stems[at + 1 : at + 1 + NEAR])
    return {word for word in near if word not in FUNCTION_WORDS and len(word) > 1}


def _likeness(term: str, known: frozenset[str]) -> float:
    """1 for a term that is there, else by the letters that it begins with as one that is."""
    if term in known:
        return 1.0
    begin = (_common(term, other) * 2 / (len(term) + len(other)) for other in known)
    return max(begin, default=0.0)


def _common(one: str, two: str) -> int:
    """How many letters two words begin with alike; 0 for too few."""
    count = 0
    for left, right in zip(one, two, strict=False):
        if left != right:
            break
        count += 1
    return count if count >= ALIKE else 0


def _share(has: Iterable[bool]) -> float:
    found = list(has)
    return sum(found) / len(found) if found else 0.0
