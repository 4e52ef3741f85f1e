"""Okapi BM25 over postings, exact to the last bit: what a passage scores depends on nothing but the
passages in sight. Values in, values out.

A field's score is idf · boost · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean length)), with
idf = ln(1 + (N - n + 0.5) / (n + 0.5)), N and n counted in sight; a passage's score is the sum over fields
and terms. Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.uint32]
Counts = NDArray[np.uint16]
Lengths = NDArray[np.uint32]
Scores = NDArray[np.float64]
Index = TypeVar("Index", np.uint32, np.intp)

# A list longer than this is worth a look at whether it can still change the best k.
LONG = 8_192


@dataclass(frozen=True)
class Weights:
    """BM25's parameters and what each field counts; chosen per query, not when the index is built.

    On SciFact train (nDCG@10, title in the text too) the defaults have 0.7006; the best of 27 settings
    had 0.7018, and none with that title weight is below 0.698: k1 and b hardly matter there.
    """

    k1: float = 1.2
    b: float = 0.5
    text: float = 1.0
    title: float = 0.2
    headings: float = 0.0


@dataclass(frozen=True)
class Occurrences:
    """Where one term occurs in one field, of the passages in sight. Places ascend.

    `weight`: idf times the field's boost times how often the query has the term; above 0.
    `shortest`: no passage in sight has fewer terms in this field.
    """

    places: Places
    counts: Counts
    lengths: Lengths
    mean_length: float
    shortest: int
    weight: float

    def ceiling(self, k1: float, b: float) -> float:
        """No passage in sight gets more from this term."""
        most = int(self.counts.max())
        least = 1 - b + b * self.shortest / self.mean_length
        return self.weight * (k1 + 1) * most / (most + k1 * least)

    def impacts(self, places: NDArray[Index], counts: Counts, k1: float, b: float) -> Scores:
        """What the term adds to the score of each of these passages, which all have it."""
        lengths = self.lengths[places].astype(np.float64)
        found = counts.astype(np.float64)
        lengths *= k1 * b / self.mean_length
        lengths += k1 * (1 - b)
        lengths += found
        found *= self.weight * (k1 + 1)
        found /= lengths
        return found


def idf(passages: int, having: int) -> float:
    """How much a term tells that `having` of `passages` have; above 0 even if all have it."""
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def best(lists: Sequence[Occurrences], k: int, size: int, k1: float, b: float) -> Places:
    """Some places, ascending, with all of the k best among them: MaxScore (Turtle and Flood, 1995).

    The most telling terms go first. Once no passage without them can reach the k-th, the rest of
    the lists are not walked.
    """
    ranked = sorted(((one.ceiling(k1, b), one) for one in lists), key=lambda pair: -pair[0])
    left = sum(ceiling for ceiling, _ in ranked)
    slack = 1e-9 * left
    scores = np.zeros(size)
    touched: list[NDArray[np.intp]] = []
    for ceiling, one in ranked:
        if touched and len(one.places) > LONG:
            known = np.concatenate(touched)
            floor = _kth(scores[known], k)
            if floor > left + slack:
                return _above(known, scores, floor - left - slack)
        # Gathers and scatters want machine integers; converting once instead of three times halves the time.
        places = one.places.astype(np.intp)
        before = scores[places]
        touched.append(places[before == 0])
        before += one.impacts(places, one.counts, k1, b)
        scores[places] = before
        left -= ceiling
    known = np.concatenate(touched)
    return _above(known, scores, _kth(scores[known], k) - slack)


def exact(lists: Sequence[Occurrences], places: Places, k1: float, b: float) -> Scores:
    """The scores of these places, ascending; always summed in the order of `lists`."""
    scores = np.zeros(len(places))
    for one in lists:
        rows, found = located(one, places)
        scores[rows] += one.impacts(places[rows], one.counts[found], k1, b)
    return scores


def located(one: Occurrences, places: Places) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of these places have the term, and where in its list each of those is."""
    found = np.searchsorted(one.places, places)
    found[found == len(one.places)] = 0
    has = one.places[found] == places if len(one.places) else np.zeros(len(places), np.bool_)
    return np.flatnonzero(has), found[has]


def _above(known: NDArray[np.intp], scores: Scores, floor: float) -> Places:
    return np.sort(known[scores[known] >= floor]).astype(np.uint32)


def _kth(scores: Scores, k: int) -> float:
    if k >= len(scores):
        return 0.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
