"""Logistic regression with an L2 penalty, by Newton's steps: weights for features with names. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
STEPS = 40
ENOUGH = 1e-7
BIAS = "bias"


def fit(
    names: Sequence[str], rows: Rows, wanted: Rows, counts: Rows, strength: float
) -> dict[str, float]:
    """The weights, with `bias`; the penalty is on standardised features, divided by `strength`.

    `wanted`: 1 for each row to find, else 0; `counts`: how much each row counts.
    """
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    scaled = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    penalty = np.eye(scaled.shape[1]) / strength
    penalty[-1, -1] = 1e-6
    found = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        likely = probabilities(scaled @ found)
        slope = penalty @ found - scaled.T @ (counts * (wanted - likely))
        bend = penalty + (scaled.T * (counts * likely * (1.0 - likely))) @ scaled
        step = np.linalg.solve(bend, slope)
        found = found - step
        if float(np.abs(step).max()) < ENOUGH:
            break
    weights = found[:-1] / spread
    bias = float(found[-1] - weights @ mean)
    return {**dict(zip(names, map(float, weights), strict=True)), BIAS: bias}


def probabilities(odds: Rows) -> Rows:
    """Log-odds as probabilities."""
    found: Rows = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
    return found


def apply(names: Sequence[str], rows: Rows, weights: dict[str, float]) -> Rows:
    """The log-odds of rows by weights."""
    found: Rows = rows @ np.array([weights[name] for name in names]) + weights[BIAS]
    return found
