"""How near is near: a score from a few similarities, and the threshold that keeps so much of what is genuine. Pure.

The weights were chosen on Basecamp's calibrating questions against CLINC150's in-scope utterances, SQuAD's and
CLAP NQ's questions, and looked at again on ten other corpora; CLINC150's out-of-scope ones had no part in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COVERAGE = 0.1
FOREIGN = 0.3
KEPT = 0.98
"""The share of the corpus's own sentences that would be kept as questions about the rest of it."""
LEAST_KNOWN = 50
"""Fewer sentences say too little: then what must be refused sets the threshold."""
REFUSED = 0.95


@dataclass(frozen=True)
class Similarities:
    """Of texts, one value each: the cosines with the nearest sentence, passage and foreign question,
    and the share of their words' idf that the documents use."""

    sentence: Floats
    passage: Floats
    foreign: Floats
    coverage: Floats

    @property
    def scores(self) -> Floats:
        """How much nearer to the documents than to what anyone may ask anywhere."""
        near = self.sentence + self.passage + COVERAGE * self.coverage
        return near - FOREIGN * self.foreign


def highest(cosines: NDArray[np.floating]) -> Floats:
    """The highest of each row, at least 0."""
    return np.asarray(cosines.max(axis=1, initial=0.0), np.float64)


def threshold(known: Floats, foreign: Floats, kept: float = KEPT) -> float:
    """The score from which on texts are near: at least `kept` of the known ones reach it."""
    if len(known) >= LEAST_KNOWN:
        return float(np.quantile(known, 1.0 - kept, method="lower"))
    # Above the score of so many foreign ones; where that is 0 something at least must be known.
    return float(np.nextafter(np.quantile(foreign, REFUSED, method="lower"), np.inf))


def refused(scores: Floats, threshold: float) -> float:
    """The share of scores that don't reach the threshold."""
    return float(np.mean(scores < threshold)) if len(scores) else 0.0
