"""Vectors that were computed before, on disk, by model and by content. Any number of processes share it."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .vectors import Vectors

BATCH_TEXTS = 512
WAIT_S = 30.0
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, vector BLOB, "
    "PRIMARY KEY (model, digest)) WITHOUT ROWID"
)


class Embedder(Protocol):
    """Texts into unit vectors. Vectors of the same `model_id` are comparable, others are not."""

    @property
    def model_id(self) -> str:
        """The name, with the digests of the files that decide the numbers."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a row."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order."""
        ...


class Cached:
    """An embedder that asks another only for texts it has not seen. The file may be deleted any time."""

    def __init__(
        self,
        inner: Embedder,
        path: Path,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`progress` is told how many of the new texts are done, and of how many."""
        self._inner = inner
        self._path = path
        self._progress = progress

    @property
    def model_id(self) -> str:
        """That of the embedder behind."""
        return self._inner.model_id

    @property
    def dimensions(self) -> int:
        """Those of the embedder behind."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order; what is new is stored batch by batch."""
        digests = [_digest(text) for text in texts]
        new = dict(zip(digests, texts, strict=True))
        database = self._connection()
        try:
            known = self._stored(database, list(new))
            # By length, so that batches of the embedder behind hold texts of about one length.
            missing = sorted(
                (digest for digest in new if digest not in known),
                key=lambda digest: (len(new[digest]), digest),
            )
            for at in range(0, len(missing), BATCH_TEXTS):
                part = missing[at : at + BATCH_TEXTS]
                rows = self._inner.embed([new[digest] for digest in part])
                self._store(database, part, rows)
                known |= dict(zip(part, rows, strict=True))
                if self._progress is not None:
                    self._progress(at + len(part), len(missing))
        finally:
            database.close()
        if not digests:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([known[digest] for digest in digests])

    def unknown(self, texts: Sequence[str]) -> int:
        """How many different texts `embed` would have to ask the embedder behind for."""
        digests = {_digest(text) for text in texts}
        with closing(self._connection()) as database:
            return len(digests) - sum(1 for _ in self._rows(database, "digest", list(digests)))

    def keep(self, texts: Sequence[str]) -> None:
        """Drop every other text's vector, of any model: what was removed is gone from here too."""
        with closing(self._connection()) as database, database:
            database.execute("PRAGMA secure_delete = ON")  # nor does it stay in a free page
            database.execute("CREATE TEMP TABLE kept (digest BLOB PRIMARY KEY) WITHOUT ROWID")
            digests = {(_digest(text),) for text in texts}
            database.executemany("INSERT INTO kept VALUES (?)", digests)
            database.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM kept)")

    def _connection(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._path, timeout=WAIT_S)
        database.execute(_TABLE)
        database.execute("PRAGMA synchronous = OFF")  # a cache: what a crash takes is made again
        return database

    def _stored(self, database: sqlite3.Connection, digests: list[bytes]) -> dict[bytes, Vectors]:
        rows = self._rows(database, "digest, vector", digests)
        return {digest: np.frombuffer(row, dtype="<f4") for digest, row in rows}

    def _rows(
        self, database: sqlite3.Connection, columns: str, digests: list[bytes]
    ) -> Iterator[tuple[Any, ...]]:
        """These columns of those that are there."""
        for at in range(0, len(digests), BATCH_TEXTS):
            part = digests[at : at + BATCH_TEXTS]
            marks = ",".join("?" * len(part))
            yield from database.execute(
                f"SELECT {columns} FROM vectors WHERE model = ? AND digest IN ({marks})",  # noqa: S608
                [self.model_id, *part],
            )

    def _store(self, database: sqlite3.Connection, digests: list[bytes], rows: Vectors) -> None:
        values = [
            (self.model_id, digest, row.astype("<f4").tobytes())
            for digest, row in zip(digests, rows, strict=True)
        ]
        with database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", values)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
