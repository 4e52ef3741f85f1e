"""Finds passages by their vectors, among those that a reader's labels open; the others are never read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..partitions import Span, merged
from .files import EXACT_UP_TO, Built, Files, VectorRow, read, write
from .quantized import Bytes, cosines, quantized

SAMPLED = 20_000

Places = NDArray[np.intp]
Vector = NDArray[np.floating]


@dataclass(frozen=True)
class Near:
    """A passage whose vector points where the query's does, and their cosine, which is above 0."""

    ordinal: int
    score: float


def build(
    folder: Path, rows: Iterable[VectorRow], dimensions: int, exact_up_to: int = EXACT_UP_TO
) -> Built:
    """Store vectors into a folder; passages may lack one. The same rows always give the same bytes."""
    return write(folder, rows, dimensions, exact_up_to)


class VectorIndex:
    """A store that `build` has built: memory-mapped, never written, for any number of processes.

    Up to `exact_up_to` vectors in sight all are compared; above that, large partitions are
    searched by their graphs, and what those find is compared exactly.
    """

    def __init__(self, files: Files) -> None:
        self._files = files

    @classmethod
    def open(cls, folder: Path) -> "VectorIndex":
        """Map a store into memory; reads no more than its manifest."""
        return cls(read(folder))

    def __len__(self) -> int:
        return len(self._files.ordinals)

    @property
    def dimensions(self) -> int:
        """How many components a vector has."""
        return self._files.dimensions

    def search(self, vector: Vector, labels: Iterable[str], k: int) -> list[Near]:
        """The k nearest vectors in sight with a cosine above 0; of equals the lower ordinals."""
        query = self._asked(vector)
        if k < 1 or not query.any():
            return []
        opened = self._files.partitions.opened(labels)
        parts = [self._best(query, span, k) for span in self._exact(opened)]
        parts += [self._near(query, at, k) for at in self._by_graph(opened)]
        if not parts:
            return []
        ordinals = np.concatenate([part[0] for part in parts])
        scores = np.concatenate([part[1] for part in parts])
        first = np.lexsort((ordinals, -scores))[:k]
        found = zip(ordinals[first].tolist(), scores[first].tolist(), strict=True)
        return [Near(ordinal, score) for ordinal, score in found if score > 0]

    def scores(
        self, vector: Vector, labels: Iterable[str], ordinals: Sequence[int]
    ) -> dict[int, float]:
        """The same cosines for passages that something else found; absent if not in sight or without vector."""
        query = self._asked(vector)
        places = self._places(ordinals)
        seen = np.zeros(len(places), np.bool_)
        for at in self._files.partitions.opened(labels):
            start, stop = self._spans[at]
            seen |= (places >= start) & (places < stop)
        places = places[seen]
        found = self._cosines(query, places) if query.any() else np.zeros(len(places))
        return dict(zip(self._files.ordinals[places].tolist(), found.tolist(), strict=True))

    def rows(self, ordinals: Sequence[int]) -> dict[int, Bytes]:
        """Stored vectors, of passages that have one: for a next `build`, which stores them unchanged."""
        places = self._places(ordinals)
        return dict(
            zip(self._files.ordinals[places].tolist(), self._files.rows[places], strict=True)
        )

    def _asked(self, vector: Vector) -> Bytes:
        if vector.shape != (self.dimensions,):
            raise ValueError(f"a query has shape {vector.shape}, not ({self.dimensions},)")
        return np.asarray(quantized(vector[None])[0])

    def _by_graph(self, opened: Sequence[int]) -> list[int]:
        sizes = self._files.partitions.sizes
        if sum(sizes[at] for at in opened) <= self._files.exact_up_to:
            return []
        return [at for at in opened if at in self._files.graphs]

    def _exact(self, opened: Sequence[int]) -> list[Span]:
        by_graph = set(self._by_graph(opened))
        return merged(self._spans[at] for at in opened if at not in by_graph)

    def _best(
        self, query: Bytes, span: Span, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best of a span, and whoever is equal to the last of them."""
        start, stop = span
        scores = cosines(self._files.rows[start:stop], self._files.lengths[start:stop], query)
        # The k-th of some is no better than the k-th of all: most are gone before all are looked at closely.
        some = scores[:: len(scores) // SAMPLED + 1]
        at = np.flatnonzero(scores >= _kth(some, k))
        at = at[scores[at] >= _kth(scores[at], k)]
        return self._files.ordinals[start + at], scores[at]

    def _near(
        self, query: Bytes, number: int, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        places = self._spans[number][0] + np.sort(self._files.graphs[number].near(query, k))
        return self._files.ordinals[places], self._cosines(query, places)

    def _cosines(self, query: Bytes, places: Places) -> NDArray[np.float64]:
        return cosines(self._files.rows[places], self._files.lengths[places], query)

    def _places(self, ordinals: Sequence[int]) -> Places:
        """Where passages that have a vector are."""
        asked = np.array(sorted(set(ordinals)), np.int64)
        if not len(asked) or not len(self):
            return np.empty(0, np.intp)
        at = np.searchsorted(self._files.ordinals, asked, sorter=self._by_ordinal)
        places = self._by_ordinal[np.minimum(at, len(self) - 1)]
        return np.asarray(places[self._files.ordinals[places] == asked])

    @cached_property
    def _spans(self) -> list[Span]:
        return self._files.partitions.spans

    @cached_property
    def _by_ordinal(self) -> NDArray[np.intp]:
        return np.argsort(self._files.ordinals)


def _kth(scores: NDArray[np.float64], k: int) -> float:
    if k >= len(scores):
        return -1.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
