"""Scores the passages that a reader's labels open; an index is built once for each such set."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .index import Index, Scoring
from .model import Document, Passage
from .snapshot import Snapshot

KEPT_INDEXES = 8


@dataclass(frozen=True)
class Hits:
    """Raw scores of `passages`, by position. Those that no label opens are not among them."""

    passages: Sequence[tuple[Document, Passage]]
    keyword_scores: Sequence[float]
    vector_scores: Sequence[float]


@dataclass(frozen=True)
class Fields:
    """What of a document counts as keywords of each of its passages, beside the passage itself."""

    title: bool = False
    headings: bool = False


class Searcher:
    """Term statistics are those of the opened passages alone: what is hidden leaves no trace."""

    def __init__(
        self, analyze: Callable[[str], list[str]], fields: Fields, scoring: Scoring
    ) -> None:
        self._analyze = analyze
        self._fields = fields
        self._scoring = scoring
        self._lock = threading.Lock()
        self._built: OrderedDict[
            tuple[str, frozenset[str]], tuple[list[tuple[Document, Passage]], Index]
        ] = OrderedDict()

    def is_ready(self, snapshot: Snapshot, labels: Sequence[str]) -> bool:
        """Whether the index for these labels is built already."""
        return self._key(snapshot, labels) in self._built

    def score(self, snapshot: Snapshot, labels: Sequence[str], text: str) -> Hits:
        """Score every opened passage for a text."""
        key = self._key(snapshot, labels)
        with self._lock:
            if key not in self._built:
                self._built[key] = self._build(snapshot, key[1])
            self._built.move_to_end(key)
            while len(self._built) > KEPT_INDEXES:
                self._built.popitem(last=False)
            passages, index = self._built[key]
        terms = self._analyze(text)
        return Hits(passages, index.keyword_scores(terms), index.vector_scores(terms))

    def _key(self, snapshot: Snapshot, labels: Sequence[str]) -> tuple[str, frozenset[str]]:
        return snapshot.version, snapshot.labels.intersection(labels)

    def _build(
        self, snapshot: Snapshot, opened: frozenset[str]
    ) -> tuple[list[tuple[Document, Passage]], Index]:
        passages = [
            (document, passage)
            for document, passage in snapshot.passages
            if not opened.isdisjoint(document.labels)
        ]
        own = [self._analyze(document.text_of(passage)) for document, passage in passages]
        texts = [
            terms + self._analyze(self._around(document, passage))
            for terms, (document, passage) in zip(own, passages, strict=True)
        ]
        return passages, Index(texts, own, self._scoring)

    def _around(self, document: Document, passage: Passage) -> str:
        title = [document.title] if self._fields.title else []
        return "\n".join([*title, *(passage.heading_path if self._fields.headings else ())])
