"""Which sentences make the best answer, given how probable each is part of it. Pure.

The set of the highest expected F measure (Ye and others 2012: with independent probabilities it is one of the
best-first sets, and its expectation is exact by the distribution of the number of hits).
"""

from collections.abc import Sequence
from itertools import accumulate

MOST_WEIGHED = 60
"""More sentences than that are not weighed against each other; the least probable ones stay out."""


def choose(
    probabilities: Sequence[float],
    beta: float = 1.0,
    most: int = MOST_WEIGHED,
    costs: Sequence[float] = (),
) -> list[int]:
    """The places of the set with the highest expected F, at most `most` of them, best first.

    `beta` below 1 weighs a sentence too much heavier than one too few (van Rijsbergen's F). `costs`: of each, what
    quoting it takes from that F; then the best of the sets that are best first by probability less cost.
    """
    price = costs or [0.0] * len(probabilities)
    order = sorted(range(len(probabilities)), key=lambda place: price[place] - probabilities[place])
    order = order[:MOST_WEIGHED]
    ranked = [probabilities[place] for place in order]
    spent = accumulate(price[place] for place in order)
    sizes = range(1, min(most, len(ranked)) + 1)
    worth = [
        expected_f(ranked, size, beta) - cost for size, cost in zip(sizes, spent, strict=False)
    ]
    return order[: worth.index(max(worth)) + 1] if worth else []


def expected_f(ranked: Sequence[float], size: int, beta: float = 1.0) -> float:
    """The expected F of the first `size` of independent probabilities, 0 where nothing is to be found."""
    weight = beta * beta
    inside, outside = _hits(ranked[:size]), _hits(ranked[size:])
    total = 0.0
    for found in range(1, len(inside)):
        gain = inside[found] * (1.0 + weight) * found
        for left, share in enumerate(outside):
            total += gain * share / (size + weight * (found + left))
    return total


def _hits(probabilities: Sequence[float]) -> list[float]:
    """The distribution of how many come true."""
    shares = [1.0]
    for probability in probabilities:
        grown = [0.0] * (len(shares) + 1)
        for hits, share in enumerate(shares):
            grown[hits] += share * (1.0 - probability)
            grown[hits + 1] += share * probability
        shares = grown
    return shares
