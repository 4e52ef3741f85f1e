"""One version of a corpus, read as it is needed: nothing of it stays in this process but a mapping."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from contracts import Misconfigured
from groundwire.files import digest_of

from . import database
from .lock import ReadLock
from .manifest import DATABASE, INTENTS, MANIFEST, Counts, Damaged, Manifest
from .merging import widened
from .model import Aside, Document, Passage

_DOCUMENT = "SELECT doc_id, labels, about, text, first_passage, passages FROM documents"
_PASSAGE = "SELECT passage_id, char_start, char_end, about FROM passages"
_BATCH = 256


class Snapshot:
    """An immutable corpus. `intents`: the text of the intents file that belongs to it.

    Any number of threads may read; a snapshot in memory has no `folder`.
    """

    def __init__(
        self,
        manifest: Manifest,
        connection: sqlite3.Connection,
        intents: str | None = None,
        *,
        folder: Path | None = None,
        held: ReadLock | None = None,
    ) -> None:
        self.manifest = manifest
        self.version = manifest.version
        self.intents = intents
        self._connection = connection
        self._reading = threading.Lock()
        self._folder = folder
        self._held = held  # let go when nothing refers to the snapshot any more
        self._verified: set[str] = set()

    @classmethod
    def open(cls, folder: Path, version: str) -> "Snapshot":
        """A stored version, held against pruning; Damaged names what isn't what it was, OSError what isn't there."""
        held = ReadLock(folder / MANIFEST)
        manifest = Manifest.from_bytes((folder / MANIFEST).read_bytes(), version)
        for name in (DATABASE, INTENTS):
            if name in manifest.files:
                verify(folder, manifest, name)
        connection = database.open_stored(folder / DATABASE)
        intents = (folder / INTENTS).read_text("utf-8") if INTENTS in manifest.files else None
        return cls(manifest, connection, intents, folder=folder, held=held)

    @property
    def counts(self) -> Counts:
        """How much it holds."""
        return self.manifest.counts

    @property
    def is_stored(self) -> bool:
        """Whether it lies in a folder, where parts can follow."""
        return self._folder is not None

    @property
    def documents(self) -> "Documents":
        """The documents by id, in stored order, each read when it is asked for."""
        return Documents(self)  # not kept: a cycle would hold the version until the next collection

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every label that a document carries."""
        rows = self.rows("SELECT DISTINCT labels FROM documents")
        return frozenset(label for (labels,) in rows for label in json.loads(labels))

    @property
    def passages(self) -> tuple[tuple[Document, Passage], ...]:
        """Every passage beside its document, in stored order: all of the corpus, in this process's memory."""
        return tuple(
            (document, passage)
            for document in self.documents.stream()
            for passage in document.passages
        )

    def at(self, ordinals: Sequence[int]) -> list[tuple[Document, Passage]]:
        """The passages of these ordinals, each beside its document (without that one's other passages)."""
        return [self._at(ordinal) for ordinal in ordinals]

    def merged_at(self, ordinal: int, most_chars: int) -> tuple[Document, Passage]:
        """The passage of an ordinal with its neighbours, as far as they fit, beside its document."""

        def read(at: int) -> tuple[Document, Passage] | None:
            return self._at(at) if 0 <= at < self.counts.passages else None

        return widened(read, ordinal, most_chars) or self._at(ordinal)

    def _at(self, ordinal: int) -> tuple[Document, Passage]:
        (row,) = self.rows(
            "SELECT p.passage_id, p.char_start, p.char_end, p.about, d.doc_id, d.labels, d.about, d.text"
            " FROM passages p JOIN documents d ON d.ordinal = p.document WHERE p.ordinal = ?",
            (ordinal,),
        )
        return database.decode_document(row[4:], ()), database.decode_passage(row[:4])

    def holding(self, doc_id: str, start: int, end: int) -> Passage | None:
        """The first passage of a document that holds a span; None if none does wholly."""
        place = "SELECT first_passage, first_passage + passages FROM documents WHERE doc_id = ?"
        for first, after in self.rows(place, (doc_id,)):
            found = self.rows(
                f"{_PASSAGE} WHERE ordinal >= ? AND ordinal < ?"
                " AND char_start <= ? AND char_end >= ? ORDER BY ordinal LIMIT 1",
                (first, after, start, end),
            )
            return database.decode_passage(found[0]) if found else None
        return None

    def sources(self) -> dict[str, database.StoredSource]:
        """What was read, by name."""
        with self._reading:
            return {source.name: source for source in database.stored_sources(self._connection)}

    def aside(self) -> tuple[Aside, ...]:
        """What was taken out of documents."""
        with self._reading:
            return tuple(database.stored_aside(self._connection))

    def part(self, name: str) -> Path | None:
        """The folder of a part, its files verified; None if there is none. Misconfigured if it is damaged."""
        if self._folder is None or name not in self.manifest.parts:
            return None
        with self._reading:
            if name not in self._verified:
                for file in self.manifest.files:
                    if file.startswith(f"{name}/"):
                        self._verify(file)
                self._verified.add(name)
        return self._folder / name

    def part_as(self, name: str, how: str) -> Path | None:
        """The folder of a part that is built in this way; None for another way, or none."""
        return self.part(name) if self.manifest.parts.get(name) == how else None

    def _verify(self, file: str) -> None:
        assert self._folder is not None
        try:
            verify(self._folder, self.manifest, file)
        except (Damaged, OSError) as error:
            what = "does not match its digest" if isinstance(error, Damaged) else "cannot be read"
            raise Misconfigured(
                f"snapshot {self.version} is damaged: {file} {what}; ingest again"
            ) from error

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a query on the database."""
        with self._reading:
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Let go of the files, where waiting for nobody to refer to it is too long."""
        self._connection.close()
        if self._held is not None:
            self._held.release()


class Documents(Mapping[str, Document]):
    """The documents of a snapshot by id, in stored order, each read when it is asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __getitem__(self, doc_id: str) -> Document:
        found = self._snapshot.rows(f"{_DOCUMENT} WHERE doc_id = ?", (doc_id,))
        if not found:
            raise KeyError(doc_id)
        return self._document(found[0])

    def __iter__(self) -> Iterator[str]:
        rows = self._snapshot.rows("SELECT doc_id FROM documents ORDER BY ordinal")
        return iter([doc_id for (doc_id,) in rows])

    def __len__(self) -> int:
        return self._snapshot.counts.documents

    def __contains__(self, doc_id: object) -> bool:
        return bool(self._snapshot.rows("SELECT 1 FROM documents WHERE doc_id = ?", (doc_id,)))

    def stream(self) -> Iterator[Document]:
        """All of them in stored order, a batch in memory at a time."""
        for first in range(0, len(self), _BATCH):
            rows = self._snapshot.rows(
                f"{_DOCUMENT} WHERE ordinal >= ? AND ordinal < ? ORDER BY ordinal",
                (first, first + _BATCH),
            )
            yield from map(self._document, rows)

    def _document(self, row: tuple[Any, ...]) -> Document:
        first, passages = row[4:]
        found = self._snapshot.rows(
            f"{_PASSAGE} WHERE ordinal >= ? AND ordinal < ? ORDER BY ordinal",
            (first, first + passages),
        )
        return database.decode_document(row[:4], map(database.decode_passage, found))


def verify(folder: Path, manifest: Manifest, name: str) -> None:
    """Damaged if a file of a snapshot isn't what was written."""
    if digest_of(folder / name) != manifest.files[name]:
        raise Damaged(name)
