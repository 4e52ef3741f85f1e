"""A graph of near neighbours (HNSW) over the rows of one partition. usearch is known here alone.

Built by one thread in a fixed order, so that the same rows give the same graph.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .quantized import Bytes

if TYPE_CHECKING:
    from usearch.index import Index

NEIGHBOURS = 16
BREADTH_BUILD = 128
BREADTH_SEARCH = 256
FIRST = "onnxruntime"
"""Loaded after usearch, it ends the process by a segmentation fault (1.32 after 2.26): so it is loaded before."""


def is_available() -> bool:
    """Whether the library for graphs is installed; without it all search is exact."""
    return find_spec("usearch") is not None


def build(path: Path, rows: Bytes) -> None:
    """Build the graph of these rows, which are known by their position."""
    graph = _empty(rows.shape[1])
    for at in range(0, len(rows), 10_000):
        block = np.ascontiguousarray(rows[at : at + 10_000])
        graph.add(np.arange(at, at + len(block), dtype=np.uint64), block, threads=1)
    graph.save(str(path))


class Graph:
    """A graph that `build` has built, memory-mapped."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self._graph = _empty(dimensions)
        self._graph.view(str(path))

    def near(self, query: Bytes, k: int) -> NDArray[np.intp]:
        """The positions of about the k nearest rows."""
        # The breadth is the graph's, not the search's: it covers k by asking for at least so many.
        found = self._graph.search(query, max(k, BREADTH_SEARCH), threads=1)
        return np.asarray(found.keys, np.intp)


def _empty(dimensions: int) -> "Index":
    if find_spec(FIRST) is not None:
        import_module(FIRST)
    from usearch.index import Index

    return Index(
        ndim=dimensions,
        metric="cos",
        dtype="i8",
        connectivity=NEIGHBOURS,
        expansion_add=BREADTH_BUILD,
        expansion_search=BREADTH_SEARCH,
    )
