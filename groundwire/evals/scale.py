"""How indexing and search grow with the number of passages, on synthetic ones; one thread throughout."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from groundwire.corpus import PUBLIC, Progress
from groundwire.corpus import keyword as words_index
from groundwire.corpus import vectors as vector_store

from . import synthetic

SEED = 7
LABELS = (PUBLIC,)
FOUND = 100
STEP = 2_000

T = TypeVar("T")
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Latency:
    """Of single searches for 100 hits, one after the other."""

    p50_ms: float
    p95_ms: float
    max_ms: float


@dataclass(frozen=True)
class Index:
    """One index: how fast it was built, how large it is, how long it searches."""

    passages_per_s: float
    bytes: int
    search: Latency


@dataclass(frozen=True)
class Scale:
    """All that was measured at one size. `recall`: None where search compares all vectors."""

    passages: int
    queries: int
    keyword: Index
    vectors: Index | None
    recall: float | None
    hybrid: Latency | None


def measure(
    passages: int, queries: int, folder: Path, *, vectors: bool, on_progress: OnProgress
) -> Scale:
    """Build and search indexes of this many passages; scratch goes into `folder` and is removed.

    Hybrid is a keyword and a vector search and the other's scores for what each of them found.
    """
    asked = list(synthetic.queries(queries, SEED + 1))
    with TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "keyword"
        rate = _build_keyword(path, passages, on_progress)
        by_words = words_index.KeywordIndex.open(path)
        keyword = Index(
            rate, _size(path), _latency(asked, lambda text: by_words.search(text, LABELS, FOUND))
        )
        if not vectors:
            return Scale(passages, queries, keyword, None, None, None)
        path = Path(scratch) / "vectors"
        rate, built = _build_vectors(path, passages, on_progress)
        near = vector_store.VectorIndex.open(path)
        directions = np.concatenate(list(synthetic.vectors(queries, SEED + 2)))
        alone = _latency(directions, lambda vector: near.search(vector, LABELS, FOUND))

        def both(pair: tuple[str, synthetic.Vectors]) -> None:
            text, vector = pair
            by_text = by_words.search(text, LABELS, FOUND)
            by_vector = near.search(vector, LABELS, FOUND)
            near.scores(vector, LABELS, [hit.ordinal for hit in by_text])
            by_words.scores(text, LABELS, [hit.ordinal for hit in by_vector])

        hybrid = _latency(list(zip(asked, directions, strict=True)), both)
        return Scale(
            passages,
            queries,
            keyword,
            Index(rate, _size(path), alone),
            built.recalls.get(0),
            hybrid,
        )


def _build_keyword(path: Path, passages: int, on_progress: OnProgress) -> float:
    """Rows are made batch by batch, off the clock."""
    making = _Stopwatch()
    rows = (
        words_index.Row(at, text, labels=LABELS)
        for at, text in enumerate(making.timed(synthetic.passages(passages, SEED)))
    )
    start = time.perf_counter()
    words_index.build(path, _told(rows, "keyword", passages, on_progress))
    return passages / (time.perf_counter() - start - making.seconds)


def _build_vectors(
    path: Path, passages: int, on_progress: OnProgress
) -> tuple[float, vector_store.Built]:
    making = _Stopwatch()
    rows = (
        vector_store.VectorRow(at, vector, LABELS)
        for at, vector in enumerate(
            vector for batch in making.timed(synthetic.vectors(passages, SEED)) for vector in batch
        )
    )
    start = time.perf_counter()
    told = _told(rows, "vectors", passages, on_progress)
    built = vector_store.build(path, told, synthetic.DIMENSIONS)
    return passages / (time.perf_counter() - start - making.seconds), built


class _Stopwatch:
    """The time that an iterator takes to make its items."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, items: Iterator[T]) -> Iterator[T]:
        while True:
            start = time.perf_counter()
            item = next(items, None)
            self.seconds += time.perf_counter() - start
            if item is None:
                return
            yield item


def _told(rows: Iterable[T], step: str, total: int, on_progress: OnProgress) -> Iterator[T]:
    for done, row in enumerate(rows):
        if done % STEP == 0:
            on_progress(Progress(step, done, total))
        yield row


def _latency(asked: Iterable[T], search: Callable[[T], object]) -> Latency:
    times = []
    for one in asked:
        start = time.perf_counter()
        search(one)
        times.append((time.perf_counter() - start) * 1_000)
    p50, p95, most = (round(float(each), 2) for each in np.percentile(times, [50, 95, 100]))
    return Latency(p50, p95, most)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
