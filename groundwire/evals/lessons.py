"""What is learned from, as a table: rows of features with the fold and the set that each is of. Pure.

How strong the penalty is gets chosen inside what is learned from, never by what is then measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .logistic import Rows, apply, fit, probabilities

FOLDS = 5
STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
Weights = dict[str, float]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """Invariant: one of `wanted`, `folds` and `sets` for each of `rows`."""

    names: tuple[str, ...]
    rows: Rows
    wanted: Rows
    folds: Places
    sets: Places


def learn(table: Table, strength: float, without: Sequence[int] = ()) -> Weights:
    """The weights by all folds but some, each set counting as much."""
    kept = ~np.isin(table.folds, without)
    sets = table.sets[kept]
    counts = 1.0 / np.bincount(sets)[sets]
    counts *= len(counts) / counts.sum()
    return fit(table.names, table.rows[kept], table.wanted[kept], counts, strength)


def strength_of(table: Table) -> float:
    """The strength with which folds tell most of those that they were learned without."""
    worth = np.zeros(len(STRENGTHS))
    for fold in range(FOLDS):
        for at, strength in enumerate(STRENGTHS):
            worth[at] += _told(table, fold, learn(table, strength, [fold]))
    return STRENGTHS[int(np.argmax(worth))]


def strengths_without(table: Table) -> list[float]:
    """For each fold the strength that the other folds choose among themselves."""
    worth = np.zeros((FOLDS, len(STRENGTHS)))
    for one, other in combinations(range(FOLDS), 2):
        for at, strength in enumerate(STRENGTHS):
            weights = learn(table, strength, [one, other])
            worth[one, at] += _told(table, other, weights)
            worth[other, at] += _told(table, one, weights)
    return [STRENGTHS[at] for at in np.argmax(worth, axis=1)]


def _told(table: Table, fold: int, weights: Weights) -> float:
    """The log-likelihood of a fold, the mean of its sets'."""
    here = table.folds == fold
    likely = probabilities(apply(table.names, table.rows[here], weights))
    told = np.log(np.where(table.wanted[here] > 0.5, likely, 1.0 - likely) + 1e-12)
    sets = table.sets[here]
    return float(np.mean([told[sets == one].mean() for one in np.unique(sets)] or [0.0]))
