"""Locks that the kernel keeps and ends with their process: who ingests, and who reads which version."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from contracts import Misconfigured, Transient

INGESTING = "ingest.lock"


class Busy(Transient):
    """Another process, `owner` by its number, is changing the corpus."""

    def __init__(self, root: Path, owner: str) -> None:
        super().__init__(
            f"corpus {root}: process {owner} is changing it; try again when it is done"
        )
        self.owner = owner


class IngestLock:
    """One ingestion, rollback or prune at a time under a root. The file stays, so that all lock the same one."""

    def __init__(self, root: Path) -> None:
        self._path = root / INGESTING
        self._fd = -1

    def __enter__(self) -> "IngestLock":
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise Misconfigured(
                f"corpus {self._path.parent}: cannot be written: {error.strerror or error}"
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(self._fd, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._fd)
            raise Busy(self._path.parent, owner) from error
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)


class ReadLock:
    """Held on a version's manifest as long as a process may read the version: prune leaves it then."""

    def __init__(self, manifest: Path) -> None:
        """OSError when the file isn't there (any more)."""
        self._fd = -1
        self._fd = os.open(manifest, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH)  # who holds it alone does so for a moment
            if os.stat(manifest).st_ino != os.fstat(self._fd).st_ino:
                raise FileNotFoundError(manifest)  # pruned between the opening and the lock
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Let go, once."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.release()


@contextmanager
def unread(manifest: Path) -> Iterator[bool]:
    """Whether no process reads a version, this one included; then none begins to until the block ends."""
    try:
        fd = os.open(manifest, os.O_RDWR | os.O_CLOEXEC)  # network file systems want it for writing
    except OSError:
        fd = os.open(manifest, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)
