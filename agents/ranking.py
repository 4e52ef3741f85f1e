"""The order of passages: fusion of two score lists, and reranking by word pairs. Pure."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .tokens import words


@dataclass(frozen=True)
class Ranking:
    """How passages are ordered. `alpha` weighs keywords against vectors; `k` are kept.

    `keep_unsupported`: also return passages in which no term of the question occurs.
    """

    alpha: float = 0.5
    k: int = 3
    rerank: bool = False
    keep_unsupported: bool = True


def min_max(scores: Sequence[float]) -> list[float]:
    """Scores stretched onto 0..1; all 0 when they are all equal."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if low == high:
        return [0.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def fuse(keyword: Sequence[float], vector: Sequence[float], alpha: float) -> list[float]:
    """The weighted sum of both lists after each is min-max normalised."""
    pairs = zip(min_max(keyword), min_max(vector), strict=True)
    return [alpha * by_keyword + (1.0 - alpha) * by_vector for by_keyword, by_vector in pairs]


def best(scores: Sequence[float], k: int, among: Sequence[int]) -> list[int]:
    """The positions of the `k` highest scores; equal scores keep their order."""
    return heapq.nsmallest(k, among, key=lambda position: (-scores[position], position))


def pair_overlap(question: str, text: str) -> float:
    """Jaccard of the sets of adjacent word pairs, stop words kept."""
    asked, told = set(pairwise(words(question))), set(pairwise(words(text)))
    return len(asked & told) / len(asked | told) if asked or told else 0.0
