"""Measures of a ranking, and how sure they are. Pure: a seed is passed in.

nDCG: Järvelin and Kekäläinen 2002 with gain = grade, discount log2(rank + 1), as trec_eval does.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """The discounted gain of the first `k`, as a share of the best order's."""
    gained = _gain([relevant.get(entry, 0) for entry in ranked[:k]])
    best = _gain(sorted(relevant.values(), reverse=True)[:k])
    return gained / best if best else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 100) -> float:
    """The share of what is relevant that is among the first `k`."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """One over the rank of the first that is relevant; 0 if none is among the first `k`."""
    ranks = (rank for rank, entry in enumerate(ranked[:k], start=1) if entry in relevant)
    return 1.0 / next(ranks, math.inf)


def hit(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 1) -> float:
    """1 if one of the first `k` is relevant, else 0."""
    return float(any(entry in relevant for entry in ranked[:k]))


@dataclass(frozen=True)
class Interval:
    """A mean and where 95 of 100 bootstrap samples of the questions put it."""

    mean: float
    low: float
    high: float


def interval(values: Sequence[float], *, samples: int = 1_000, seed: int = 0) -> Interval:
    """The mean of a value per question with its percentile bootstrap interval."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    chance = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    size = len(values)
    means = sorted(sum(chance.choices(values, k=size)) / size for _ in range(samples))
    return Interval(
        sum(values) / size, means[round(0.025 * (samples - 1))], means[round(0.975 * (samples - 1))]
    )
