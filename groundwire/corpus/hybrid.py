"""Candidates for a question: the best by words with the best by vectors, each scored exactly by both.

Knows neither the model that makes vectors nor how scores are fused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .keyword import KeywordIndex, Weights
from .vectors import VectorIndex
from .vectors.quantized import quantized
from .vectors.sentences import SentenceVectors

DEPTH = 100
"""How many each index proposes."""


@dataclass(frozen=True)
class Proposed:
    """Ordinals of candidates, ascending, and their scores: BM25 and cosine, 0 without any.

    `alike`: the cosine of each candidate with the mean direction of those at some positions.
    Both are None where there is no vector index. `nearest`: how near the best sentences of those at some positions
    are; None where sentences have no vectors.
    """

    ordinals: tuple[int, ...]
    keyword_scores: tuple[float, ...]
    vector_scores: tuple[float, ...] | None
    alike: Callable[[Sequence[int]], Sequence[float]] | None
    nearest: Callable[[Sequence[int]], Sequence[float]] | None = None


class Hybrid:
    """Searches a keyword index, and a vector index where there is one. Blocks: call it off the loop."""

    def __init__(
        self,
        keyword: KeywordIndex,
        vectors: VectorIndex | None,
        embed: Callable[[str], NDArray[np.float32]],
        weights: Weights,
        depth: int = DEPTH,
        sentences: SentenceVectors | None = None,
    ) -> None:
        self._keyword = keyword
        self._vectors = vectors
        self._embed = embed
        self._weights = weights
        self._depth = depth
        self._sentences = sentences

    @property
    def has_vectors(self) -> bool:
        """Whether passages are compared by vectors too."""
        return self._vectors is not None

    def propose(self, text: str, labels: Sequence[str]) -> Proposed:
        """The candidates among what the labels open; without a vector index those of the words alone."""
        by_words = self._keyword.search(text, labels, self._depth, self._weights)
        found = {hit.ordinal for hit in by_words}
        cosines: dict[int, float] = {}
        vectors, nearest = self._vectors, None
        if vectors is not None:
            query = self._embed(text)
            near = vectors.search(query, labels, self._depth)
            found |= {one.ordinal for one in near}
            cosines = vectors.scores(query, labels, sorted(found))
            if self._sentences is not None:
                nearest = _nearest(vectors, self._sentences, query, sorted(found))
        ordinals = sorted(found)
        bm25 = self._keyword.scores(text, labels, ordinals, self._weights)
        return Proposed(
            tuple(ordinals),
            tuple(bm25.get(ordinal, 0.0) for ordinal in ordinals),
            None if vectors is None else tuple(cosines.get(one, 0.0) for one in ordinals),
            None if vectors is None else _alike(vectors, ordinals),
            nearest,
        )


def _alike(
    vectors: VectorIndex, ordinals: Sequence[int]
) -> Callable[[Sequence[int]], Sequence[float]]:
    def alike(positions: Sequence[int]) -> list[float]:
        stored = vectors.rows(ordinals)
        rows = np.zeros((len(ordinals), vectors.dimensions))
        for at, ordinal in enumerate(ordinals):
            if ordinal in stored:
                rows[at] = stored[ordinal]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0.0, lengths, 1.0)
        mean = rows[list(positions)].mean(axis=0)
        length = float(np.linalg.norm(mean))
        # Not `rows @ mean`: BLAS rounds equal rows differently by their place, and equals would change places.
        return [float(score) for score in (rows * mean).sum(axis=1) / (length or 1.0)]

    return alike


def _nearest(
    vectors: VectorIndex,
    sentences: SentenceVectors,
    query: NDArray[np.float32],
    ordinals: Sequence[int],
) -> Callable[[Sequence[int]], Sequence[float]]:
    asked = quantized(query[None])[0]

    def nearest(positions: Sequence[int]) -> list[float]:
        chosen = [ordinals[position] for position in positions]
        return sentences.nearest(asked, vectors.rows(chosen), chosen)

    return nearest
