"""The keyword index as a part of a snapshot: which passages go in under which words, and what is found."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .manifest import Counts
from .model import Document, Passage
from .parts import OnProgress, Progress
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .keyword import Analysis, Row

KEYWORD = "keyword"
TEXT_VERSION = 1
"""Raised whenever `indexed_text` says something else of the same passage."""


@dataclass(frozen=True)
class KeywordPart:
    """Builds the keyword index of a snapshot. Quick: it is there with its documents.

    Imports what it needs when it is needed: most corpora that are asked about in passing are small.
    """

    stop_words: tuple[str, ...] | None = None
    language: str = "english"
    least_passages: int = 0
    name: str = KEYWORD

    @property
    def how(self) -> str:
        """The format, and how texts become terms."""
        from .keyword.files import FORMAT

        text = json.dumps(asdict(self._analysis()), sort_keys=True)
        return f"bm25-{FORMAT}-{TEXT_VERSION}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def is_wanted(self, counts: Counts) -> bool:
        """Whether the corpus is large enough."""
        return counts.passages >= self.least_passages

    def missing(self, snapshot: Snapshot) -> int:
        """Nothing is slow."""
        return 0

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        """Index every passage under its ordinal; those of documents that are as before are taken over."""
        from .keyword import Kept, build, update

        older = None if before is None else before.part_as(self.name, self.how)
        if before is None or older is None:
            documents = snapshot.documents.stream()
            return build(folder, _rows(snapshot, documents, on_progress), self._analysis())
        same = _same(before, snapshot)
        kept = Kept(
            tuple(ordinal for one in same.values() for ordinal in one.before),
            tuple(ordinal for one in same.values() for ordinal in one.now),
            tuple(one.labels for one in same.values() for _ in one.now),
        )
        new = (snapshot.documents[name] for name in snapshot.documents if name not in same)
        return update(folder, older, kept, _rows(snapshot, new, on_progress))

    def forget(self, snapshot: Snapshot) -> None:
        """Nothing is kept elsewhere."""

    def _analysis(self) -> "Analysis":
        from .keyword import Analysis

        return Analysis(self.language, self.stop_words)


@dataclass(frozen=True)
class _Same:
    """The passages of a document that is the same in two snapshots."""

    before: range
    now: range
    labels: tuple[str, ...]


def _same(before: Snapshot, now: Snapshot) -> dict[str, _Same]:
    """The documents that two snapshots share, by id: to the last field, their digests say."""
    query = "SELECT digest, doc_id, labels, first_passage, passages FROM documents ORDER BY ordinal"
    older = {digest: range(first, first + n) for digest, _, _, first, n in before.rows(query)}
    return {
        doc_id: _Same(older[digest], range(first, first + n), tuple(json.loads(labels)))
        for digest, doc_id, labels, first, n in now.rows(query)
        if digest in older
    }


def indexed_text(document: Document, passage: Passage) -> str:
    """What a passage is found by. Its title and headings count twice: few words say what it is about.

    One field of all of it did better than fields of their own on every set that was measured.
    """
    around = (document.title, *passage.heading_path)
    return "\n".join([*around, *around, document.text_of(passage)])


def _rows(
    snapshot: Snapshot, documents: Iterable[Document], on_progress: OnProgress
) -> Iterator["Row"]:
    from .keyword import Row

    first = dict(snapshot.rows("SELECT doc_id, first_passage FROM documents"))
    for done, document in enumerate(documents, start=1):
        for ordinal, passage in enumerate(document.passages, start=first[document.doc_id]):
            yield Row(ordinal, indexed_text(document, passage), labels=document.labels)
        on_progress(Progress(KEYWORD, done, snapshot.counts.documents))
