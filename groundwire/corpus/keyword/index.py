"""Finds passages by their words, among those that a reader's labels open and as if there were no others."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..partitions import Span, merged
from .analysis import Analysis, Analyzer
from .files import FIELDS, Field, Files, Row, read, write
from .scoring import Occurrences, Places, Weights, best, exact, idf, located

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Hit:
    """A passage that was found, and its score, which is above 0."""

    ordinal: int
    score: float


@dataclass(frozen=True)
class Contribution:
    """What one term in one field added to a passage's score."""

    term: str
    field: str
    count: int
    score: float


@dataclass(frozen=True)
class _Sight:
    """What labels open: N, the spans of places, the mean and the least length of each field."""

    passages: int
    spans: tuple[Span, ...]
    mean_lengths: dict[str, float]
    shortest: dict[str, int]


def build(folder: Path, rows: Iterable[Row], analysis: Analysis | None = None) -> int:
    """Index rows into a folder and return how many; the same rows always give the same bytes."""
    return write(folder, rows, analysis or Analysis())


class KeywordIndex:
    """An index that `build` has built: memory-mapped, never written, for any number of threads and processes."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._analyzer = Analyzer(files.analysis)

    @classmethod
    def open(cls, folder: Path) -> "KeywordIndex":
        """Map an index into memory; reads no more than its manifest."""
        return cls(read(folder))

    def __len__(self) -> int:
        return len(self._files.ordinals)

    def terms(self, text: str) -> list[str]:
        """The terms that a query looks for, in order, with repetitions."""
        return self._analyzer.query_terms(text)

    def search(
        self, text: str, labels: Iterable[str], k: int, weights: Weights | None = None
    ) -> list[Hit]:
        """The k best passages in sight that have a term of the query; of equals the lower ordinals."""
        weights = weights or Weights()
        lists = [one for _, _, one in self._lists(self.terms(text), self._sight(labels), weights)]
        if k < 1 or not lists:
            return []
        places = best(lists, k, len(self), weights.k1, weights.b)
        scores = exact(lists, places, weights.k1, weights.b)
        ordinals = self._files.ordinals[places]
        first = np.lexsort((ordinals, -scores))[:k]
        return [
            Hit(ordinal, score)
            for ordinal, score in zip(ordinals[first].tolist(), scores[first].tolist(), strict=True)
        ]

    def scores(
        self,
        text: str,
        labels: Iterable[str],
        ordinals: Sequence[int],
        weights: Weights | None = None,
    ) -> dict[int, float]:
        """The same scores for passages that something else found; 0 without a term, absent if not in sight."""
        weights = weights or Weights()
        sight = self._sight(labels)
        places = self._places(ordinals, sight)
        lists = [one for _, _, one in self._lists(self.terms(text), sight, weights)]
        scores = exact(lists, places, weights.k1, weights.b)
        return dict(zip(self._files.ordinals[places].tolist(), scores.tolist(), strict=True))

    def explain(
        self, text: str, labels: Iterable[str], ordinal: int, weights: Weights | None = None
    ) -> list[Contribution]:
        """Why a passage scores what it scores, in the order of summation."""
        weights = weights or Weights()
        sight = self._sight(labels)
        place = self._places([ordinal], sight)
        found = []
        for term, field, one in self._lists(self.terms(text), sight, weights):
            rows, at = located(one, place)
            impacts = one.impacts(place[rows], one.counts[at], weights.k1, weights.b)
            counts = one.counts[at].tolist()
            found += [
                Contribution(term, field, count, score)
                for count, score in zip(counts, impacts.tolist(), strict=True)
            ]
        return found

    def document_frequency(self, term: str, labels: Iterable[str], field: str = "text") -> int:
        """How many passages in sight have an analyzed term."""
        number = self._files.terms.find(term)
        if number is None:
            return 0
        spans = self._sight(labels).spans
        return sum(stop - start for start, stop in _cut(self._files.fields[field], number, spans))

    def idf(self, term: str, labels: Iterable[str], field: str = "text") -> float:
        """How much an analyzed term tells, among the passages in sight."""
        labels = tuple(labels)
        having = self.document_frequency(term, labels, field)
        return idf(self._sight(labels).passages, having)

    def _sight(self, labels: Iterable[str]) -> _Sight:
        partitions = self._files.partitions
        opened = partitions.opened(labels)
        spans = partitions.spans
        passages = sum(partitions.sizes[at] for at in opened)
        means = {
            name: sum(field.sums[at] for at in opened) / passages if passages else 0.0
            for name, field in self._files.fields.items()
        }
        shortest = {
            name: min((field.shortest[at] for at in opened), default=0)
            for name, field in self._files.fields.items()
        }
        return _Sight(passages, tuple(merged(spans[at] for at in opened)), means, shortest)

    def _lists(
        self, terms: Sequence[str], sight: _Sight, weights: Weights
    ) -> list[tuple[str, str, Occurrences]]:
        """The query's terms, fields and their postings in sight; always in the same order."""
        boosts = {name: getattr(weights, name) for name in FIELDS}
        found = []
        for term, asked in Counter(terms).items():
            number = self._files.terms.find(term)
            for name, boost in boosts.items():
                if number is not None and boost > 0:
                    one = self._occurrences(number, name, sight, asked * boost)
                    if len(one.places):
                        found.append((term, name, one))
        return found

    def _occurrences(self, number: int, name: str, sight: _Sight, boost: float) -> Occurrences:
        field = self._files.fields[name]
        cuts = _cut(field, number, sight.spans)
        having = sum(stop - start for start, stop in cuts)
        return Occurrences(
            _joined([field.places[start:stop] for start, stop in cuts], np.uint32),
            _joined([field.counts[start:stop] for start, stop in cuts], np.uint16),
            field.lengths,
            sight.mean_lengths[name],
            sight.shortest[name],
            boost * idf(sight.passages, having),
        )

    def _places(self, ordinals: Sequence[int], sight: _Sight) -> Places:
        """Where passages are, ascending, of those in sight."""
        asked = np.array(sorted(set(ordinals)), np.int64)
        if not len(asked) or not len(self):
            return np.empty(0, np.uint32)
        by_ordinal = self._by_ordinal
        at = np.searchsorted(self._files.ordinals, asked, sorter=by_ordinal)
        places = by_ordinal[np.minimum(at, len(self) - 1)]
        places = np.sort(places[self._files.ordinals[places] == asked])
        seen = np.zeros(len(places), np.bool_)
        for start, stop in sight.spans:
            seen |= (places >= start) & (places < stop)
        return places[seen].astype(np.uint32)

    @cached_property
    def _by_ordinal(self) -> NDArray[np.intp]:
        return np.argsort(self._files.ordinals)


def _cut(field: Field, number: int, spans: Sequence[Span]) -> list[Span]:
    """The parts of a term's list that lie in these spans of places."""
    start, stop = int(field.starts[number]), int(field.starts[number + 1])
    if not spans or start == stop:
        return []
    bounds = np.array(spans, np.uint32).ravel()
    at = (start + np.searchsorted(field.places[start:stop], bounds)).reshape(-1, 2)
    return [(first, last) for first, last in at.tolist() if first < last]


def _joined(parts: list[NDArray[T]], dtype: type[T]) -> NDArray[T]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype)
