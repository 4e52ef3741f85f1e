"""Logistic regression with an L2 penalty, by Newton's steps: weights for features with names. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
STEPS = 40
ENOUGH = 1e-7
BIAS = "bias"


@dataclass(frozen=True)
class Lesson:
    """Rows of features, whether each is one to find, and how much each counts."""

    names: tuple[str, ...]
    rows: Rows
    wanted: Rows
    counts: Rows


def fit(lesson: Lesson, strength: float) -> dict[str, float]:
    """The weights, with `bias`; the penalty is on standardised features, divided by `strength`."""
    mean, spread = lesson.rows.mean(axis=0), lesson.rows.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    rows = np.c_[(lesson.rows - mean) / spread, np.ones(len(lesson.rows))]
    penalty = np.eye(rows.shape[1]) / strength
    penalty[-1, -1] = 1e-6
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = probabilities(rows @ found)
        slope = penalty @ found - rows.T @ (lesson.counts * (lesson.wanted - likely))
        bend = penalty + (rows.T * (lesson.counts * likely * (1.0 - likely))) @ rows
        step = np.linalg.solve(bend, slope)
        found = found - step
        if float(np.abs(step).max()) < ENOUGH:
            break
    weights = found[:-1] / spread
    bias = float(found[-1] - weights @ mean)
    return {**dict(zip(lesson.names, map(float, weights), strict=True)), BIAS: bias}


def probabilities(odds: Rows) -> Rows:
    """Log-odds as probabilities."""
    found: Rows = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
    return found


def apply(names: Sequence[str], rows: Rows, weights: dict[str, float]) -> Rows:
    """The log-odds of rows by weights."""
    found: Rows = rows @ np.array([weights[name] for name in names]) + weights[BIAS]
    return found
