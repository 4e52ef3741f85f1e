"""Multinomial logistic regression with an L2 penalty, by L-BFGS: numpy is all it needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .terms import Rows

Ints = NDArray[np.int64]
Loss = Callable[[Rows], tuple[float, Rows]]
MEMORY = 10
ENOUGH = 1e-6
SMALLEST_STEP = 1e-6


@dataclass(frozen=True)
class Linear:
    """A weight for each column and label, and what each label begins with."""

    weights: Rows
    bias: Rows

    def logits(self, rows: Rows) -> Rows:
        """The evidence for each label, by row."""
        return np.asarray(rows @ self.weights + self.bias, dtype=np.float32)


def fit(rows: Rows, labels: Ints, count: int, *, strength: float = 1.0, steps: int = 60) -> Linear:
    """The weights that explain the labels best; `strength`: how much examples count against the penalty.

    With fewer rows than columns it is solved in the space that the rows span, where the solution lies.
    """
    if len(rows) >= rows.shape[1]:
        found = _descend(rows, labels, count, strength, steps)
        return Linear(found[:-1], found[-1])
    values, vectors = np.linalg.eigh(rows @ rows.T)
    kept = values > values[-1] * 1e-6
    lengths = np.sqrt(values[kept])
    found = _descend(vectors[:, kept] * lengths, labels, count, strength, steps)
    return Linear(rows.T @ ((vectors[:, kept] / lengths) @ found[:-1]), found[-1])


def softmax(logits: Rows) -> Rows:
    """Shares that sum to 1, by row."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float32)


def _descend(rows: Rows, labels: Ints, count: int, strength: float, steps: int) -> Rows:
    places = np.arange(len(rows))
    penalty = np.float32(1.0 / (strength * len(rows)))

    def loss(point: Rows) -> tuple[float, Rows]:
        logits = rows @ point[:-1] + point[-1]
        logits -= logits.max(axis=1, keepdims=True)
        raised = np.exp(logits)
        total = raised.sum(axis=1, keepdims=True)
        missed = np.log(total[:, 0]) - logits[places, labels]
        raised /= total
        raised[places, labels] -= 1
        raised /= np.float32(len(rows))
        slope = np.empty_like(point)
        slope[:-1] = rows.T @ raised + penalty * point[:-1]
        slope[-1] = raised.sum(axis=0)
        size = float(np.vdot(point[:-1], point[:-1]))
        return float(missed.mean(dtype=np.float64)) + 0.5 * float(penalty) * size, slope

    start = np.zeros((rows.shape[1] + 1, count), dtype=np.float32)
    return minimise(loss, start, steps)


def minimise(loss: Loss, point: Rows, steps: int) -> Rows:
    """Where the loss is least, by L-BFGS with halved steps (Nocedal and Wright, algorithm 7.4)."""
    moves: list[tuple[Rows, Rows, float]] = []
    value, slope = loss(point)
    for _ in range(steps):
        way = _way(slope, moves)
        step, downhill = 1.0, float(np.vdot(slope, way))
        new = point + way
        new_value, new_slope = loss(new)
        while new_value > value + 1e-4 * step * downhill and step > SMALLEST_STEP:
            step /= 2
            new = point + np.float32(step) * way
            new_value, new_slope = loss(new)
        moved, turned = new - point, new_slope - slope
        bend = float(np.vdot(moved, turned))
        if bend > 1e-12:
            moves = [*moves[1 - MEMORY :], (moved, turned, 1.0 / bend)]
        gained = value - new_value
        point, value, slope = new, new_value, new_slope
        if gained <= ENOUGH * max(abs(value), ENOUGH):
            break
    return point


def _way(slope: Rows, moves: list[tuple[Rows, Rows, float]]) -> Rows:
    way = -slope
    shares: list[np.float32] = []
    for moved, turned, inverse in reversed(moves):
        share = np.float32(inverse * float(np.vdot(moved, way)))
        shares.append(share)
        way = way - share * turned
    if moves:
        moved, turned, inverse = moves[-1]
        way = way * np.float32(1.0 / (inverse * float(np.vdot(turned, turned))))
    else:
        way = way / np.float32(max(float(np.linalg.norm(slope)), 1e-9))
    for (moved, turned, inverse), share in zip(moves, reversed(shares), strict=True):
        back = np.float32(inverse * float(np.vdot(turned, way)))
        way = way + (share - back) * moved
    return way
