"""The order of passages: fusion of two score lists, and reranking by word pairs. Pure."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from .tokens import Analyzer, words

Fusion = Literal["convex", "rrf"]
Rerank = Literal["none", "pairs", "linear", "model"]
Rescore = Callable[[str, Sequence[str]], Sequence[float]]
"""How well each of some texts answers a question, by a model that reads both together."""
Span = tuple[str, int, int]
"""A document's id, and the characters from where to where."""

RRF_CONSTANT = 60
"""Cormack, Clarke and Büttcher 2009."""


@dataclass(frozen=True)
class Ranking:
    """How passages are ordered. `alpha` weighs keywords against vectors; `k` are kept.

    `rerank`: `pairs` reorders the `k` kept, `linear` the best `depth` by `weights` of their features,
    `model` the same by `rescore`, which must be there then.
    `keep_unsupported`: also return passages without evidence, which is a term of the question or,
    where `least_cosine` is set, a vector at least that near to it.
    `parts`: whether the parts of a compound question are searched for as well.
    `most_shared`: how much of a passage a better one may hold as well for both to be kept, as a share.
    `merged_chars`: neighbours are read as one up to so many characters; 0: each as it is stored.
    """

    alpha: float = 0.5
    k: int = 3
    fusion: Fusion = "convex"
    rerank: Rerank = "none"
    depth: int = 50
    weights: Mapping[str, float] = field(default_factory=dict)
    analyze: Analyzer = field(default_factory=Analyzer)
    rescore: Rescore | None = None
    keep_unsupported: bool = True
    least_cosine: float | None = None
    most_shared: float = 1.0
    merged_chars: int = 0
    parts: bool = False

    def supports(self, keyword: float, vector: float) -> bool:
        """Whether scores are evidence enough for a passage to be returned."""
        if self.keep_unsupported or keyword > 0.0:
            return True
        return self.least_cosine is not None and vector >= self.least_cosine


def min_max(scores: Sequence[float]) -> list[float]:
    """Scores stretched onto 0..1; all 0 when they are all equal."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if low == high:
        return [0.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def fuse(
    keyword: Sequence[float], vector: Sequence[float], alpha: float, fusion: Fusion = "convex"
) -> list[float]:
    """The weighted sum of both lists, each min-max normalised, or of their reciprocal ranks."""
    scaled = min_max if fusion == "convex" else reciprocal_ranks
    pairs = zip(scaled(keyword), scaled(vector), strict=True)
    return [alpha * by_keyword + (1.0 - alpha) * by_vector for by_keyword, by_vector in pairs]


def reciprocal_ranks(scores: Sequence[float]) -> list[float]:
    """1 / (60 + rank) for each score, ranks from 1; 0 for what was not found."""
    order = best(scores, len(scores), range(len(scores)))
    ranks = {position: rank for rank, position in enumerate(order, start=1)}
    return [
        1.0 / (RRF_CONSTANT + ranks[position]) if score > 0.0 else 0.0
        for position, score in enumerate(scores)
    ]


def best(scores: Sequence[float], k: int, among: Sequence[int]) -> list[int]:
    """The positions of the `k` highest scores; equal scores keep their order."""
    return heapq.nsmallest(k, among, key=lambda position: (-scores[position], position))


def apart(spans: Sequence[Span], order: Iterable[int], most_shared: float) -> Iterator[int]:
    """Those of the order of which no one before holds more than so much, as a share of the shorter."""
    taken: list[Span] = []
    for position in order:
        span = spans[position]
        if all(shared(span, other) <= most_shared for other in taken):
            taken.append(span)
            yield position


def shared(one: Span, other: Span) -> float:
    """The characters that both hold, as a share of the shorter."""
    if one[0] != other[0]:
        return 0.0
    common = min(one[2], other[2]) - max(one[1], other[1])
    return max(common, 0) / max(min(one[2] - one[1], other[2] - other[1]), 1)


def pair_overlap(question: str, text: str) -> float:
    """Jaccard of the sets of adjacent word pairs, stop words kept."""
    asked, told = set(pairwise(words(question))), set(pairwise(words(text)))
    return len(asked & told) / len(asked | told) if asked or told else 0.0
