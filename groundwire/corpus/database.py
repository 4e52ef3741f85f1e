"""The database of a snapshot: sources, documents and passages in their order, written once.

Passages are numbered through the whole corpus from 0, in the order of sources, documents and places: the
ordinal that indexes know them by. A snapshot in memory is the same database, in memory.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from .manifest import Counts
from .model import Aside, Document, Origin, Passage, Place, Problem

_SCHEMA = """
CREATE TABLE sources (
    position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, raw TEXT NOT NULL,
    whole INTEGER NOT NULL, problems TEXT NOT NULL, first_document INTEGER NOT NULL, documents INTEGER NOT NULL
);
CREATE TABLE documents (
    ordinal INTEGER PRIMARY KEY, doc_id TEXT NOT NULL UNIQUE, labels TEXT NOT NULL, about TEXT NOT NULL,
    text TEXT NOT NULL, digest TEXT NOT NULL, characters INTEGER NOT NULL,
    first_passage INTEGER NOT NULL, passages INTEGER NOT NULL
);
CREATE TABLE passages (
    ordinal INTEGER PRIMARY KEY, document INTEGER NOT NULL, passage_id TEXT NOT NULL,
    char_start INTEGER NOT NULL, char_end INTEGER NOT NULL, about TEXT NOT NULL
);
"""
_APART = frozenset({"doc_id", "labels", "text", "passages", "aside"})
_ABOUT = tuple(field.name for field in fields(Document) if field.name not in _APART)


@dataclass(frozen=True)
class StoredSource:
    """A source as it was read. `digest`: of all that reading depends on; `raw`: of its bytes alone.

    `whole`: everything in it went in, nothing was left out because of another source.
    """

    name: str
    digest: str
    raw: str
    problems: tuple[Problem, ...] = ()
    whole: bool = True
    documents: range = range(0)


def encode_document(document: Document) -> tuple[str, str, str, str, str]:
    """The columns of a document but for its place: id, labels, about, text, digest."""
    about = {name: value for name in _ABOUT if (value := getattr(document, name)) is not None}
    if document.origin is not None:
        about["origin"] = asdict(document.origin)
    if document.aside:
        about["aside"] = [[one.text, one.place and asdict(one.place)] for one in document.aside]
    labels, told = _json(document.labels), _json(about)
    passages = [(p.passage_id, p.char_start, p.char_end, _about(p)) for p in document.passages]
    digest = hashlib.sha256(_json([document.doc_id, labels, told, passages]).encode())
    digest.update(document.text.encode())
    return document.doc_id, labels, told, document.text, digest.hexdigest()


def decode_document(row: tuple[str, str, str, str], passages: Iterable[Passage]) -> Document:
    """The document of the columns id, labels, about and text."""
    doc_id, labels, told, text = row
    about = json.loads(told)
    if origin := about.pop("origin", None):
        starts, numbers = tuple(origin["starts"]), tuple(origin["numbers"])
        about["origin"] = Origin(origin["unit"], starts, numbers)
    if aside := about.pop("aside", None):
        about["aside"] = tuple(
            Aside(doc_id, text, place and Place(**place)) for text, place in aside
        )
    return Document(
        doc_id=doc_id,
        labels=tuple(json.loads(labels)),
        text=text,
        passages=tuple(passages),
        **about,
    )


def decode_passage(row: tuple[str, int, int, str]) -> Passage:
    """The passage of the columns id, start, end and about."""
    passage_id, start, end, told = row
    path, section, context = json.loads(told)
    return Passage(passage_id, start, end, tuple(path), section, context and tuple(context))


def _about(passage: Passage) -> str:
    return _json([passage.heading_path, passage.section, passage.context])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def open_stored(path: Path) -> sqlite3.Connection:
    """A database that nobody writes any more: mapped into memory, its pages shared by all who read it."""
    connection = sqlite3.connect(_read_only(path), uri=True, check_same_thread=False)
    connection.execute(f"PRAGMA mmap_size = {2**40}")
    connection.execute("PRAGMA cache_size = 16")  # pages of its own; the mapped ones need none
    return connection


def _read_only(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


class Writer:
    """Fills a new database in order; what didn't change is copied from an older one without being decoded."""

    def __init__(self, path: Path | None, previous: Path | None = None) -> None:
        target = ":memory:" if path is None else path.absolute().as_uri()
        self.connection = sqlite3.connect(
            target, uri=True, check_same_thread=False, isolation_level=None
        )
        # Nothing reads a database that isn't finished, and it is synced as a whole.
        self.connection.execute("PRAGMA journal_mode = OFF")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(_SCHEMA)
        if previous is not None:
            self.connection.execute("ATTACH DATABASE ? AS old", (_read_only(previous),))
        self.connection.execute("BEGIN")
        self._documents = 0
        self._passages = 0
        self._characters = 0
        self._ids: set[str] = set()
        self._content = hashlib.sha256()

    @property
    def counts(self) -> Counts:
        """How much was written so far."""
        return Counts(self._documents, self._passages, self._characters)

    def add(self, source: StoredSource, documents: Iterable[Document]) -> StoredSource:
        """Add a source and its documents; one whose id is taken is left out with a problem."""
        first = self._documents
        for document in documents:
            if document.doc_id in self._ids:
                reason = f"another document has the id {document.doc_id!r}"
                problem = Problem(document.source, reason)
                source = replace(source, problems=(*source.problems, problem), whole=False)
            else:
                self._add(document)
        return self._finish(replace(source, documents=range(first, self._documents)))

    def _add(self, document: Document) -> None:
        doc_id, labels, about, text, digest = encode_document(document)
        place = (len(text), self._passages, len(document.passages))
        self.connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._documents, doc_id, labels, about, text, digest, *place),
        )
        self.connection.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
            (
                (ordinal, self._documents, p.passage_id, p.char_start, p.char_end, _about(p))
                for ordinal, p in enumerate(document.passages, start=self._passages)
            ),
        )
        self._count(doc_id, digest, len(document.passages), len(text))

    def copy(self, source: StoredSource) -> StoredSource | None:
        """Add a source as the older database has it; None if an id of it is taken: then read it again."""
        old = source.documents
        rows = self.connection.execute(
            "SELECT doc_id, digest, passages, characters, first_passage FROM old.documents"
            " WHERE ordinal >= ? AND ordinal < ? ORDER BY ordinal",
            (old.start, old.stop),
        ).fetchall()
        if not self._ids.isdisjoint(row[0] for row in rows):
            return None
        first, moved = self._documents, self._documents - old.start
        if rows:
            shift = self._passages - rows[0][4]
            stop = rows[-1][4] + rows[-1][2]
            self.connection.execute(
                "INSERT INTO documents SELECT ordinal + ?, doc_id, labels, about, text, digest,"
                " characters, first_passage + ?, passages FROM old.documents WHERE ordinal >= ? AND ordinal < ?",
                (moved, shift, old.start, old.stop),
            )
            self.connection.execute(
                "INSERT INTO passages SELECT ordinal + ?, document + ?, passage_id, char_start, char_end,"
                " about FROM old.passages WHERE ordinal >= ? AND ordinal < ?",
                (shift, moved, rows[0][4], stop),
            )
        for doc_id, digest, passages, characters, _ in rows:
            self._count(doc_id, digest, passages, characters)
        return self._finish(replace(source, documents=range(first, self._documents)))

    def _count(self, doc_id: str, digest: str, passages: int, characters: int) -> None:
        self._ids.add(doc_id)
        self._documents += 1
        self._passages += passages
        self._characters += characters
        self._content.update(digest.encode())

    def _finish(self, source: StoredSource) -> StoredSource:
        problems = _json([[problem.source, problem.reason] for problem in source.problems])
        place = (source.documents.start, len(source.documents))
        self.connection.execute(
            "INSERT INTO sources VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (source.name, source.digest, source.raw, source.whole, problems, *place),
        )
        self._content.update(f"{source.name}\n{source.digest}\n".encode())
        return source

    def finish(self) -> str:
        """Make it readable; the digest of everything in it, in order."""
        self.connection.execute("COMMIT")
        if self.connection.execute("PRAGMA database_list").fetchall()[-1][1] == "old":
            self.connection.execute("DETACH DATABASE old")
        return self._content.hexdigest()


def count_stored(connection: sqlite3.Connection) -> Counts:
    """How much a database holds, counted in it."""
    documents, characters = connection.execute(
        "SELECT count(*), coalesce(sum(characters), 0) FROM documents"
    ).fetchone()
    (passages,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    return Counts(documents, passages, characters)


def stored_aside(connection: sqlite3.Connection) -> Iterator[Aside]:
    """All that was taken out of documents, in their order."""
    rows = connection.execute(
        "SELECT doc_id, labels, about, '' FROM documents"
        " WHERE json_extract(about, '$.aside') IS NOT NULL ORDER BY ordinal"
    )
    for row in rows:
        yield from decode_document(row, ()).aside


def stored_sources(connection: sqlite3.Connection) -> Iterator[StoredSource]:
    """Every source that went into a database, in order."""
    rows: Iterable[tuple[Any, ...]] = connection.execute("SELECT * FROM sources ORDER BY position")
    for _, name, digest, raw, whole, problems, first, documents in rows:
        told = tuple(Problem(*problem) for problem in json.loads(problems))
        place = range(first, first + documents)
        yield StoredSource(name, digest, raw, told, bool(whole), place)
