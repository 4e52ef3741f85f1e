"""Snapshots on disk: written beside, made durable, renamed; then the pointer is switched.

`ROOT/snapshots/<version>/…` are immutable; `ROOT/current` names the one that answers.
"""

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts import Misconfigured

from .snapshot import DOCUMENTS, INTENTS, MANIFEST, PASSAGES, Damaged, Snapshot, parse

SNAPSHOTS, CURRENT = "snapshots", "current"
KEPT_IN_MEMORY = 3


def is_root(path: Path) -> bool:
    """Whether a folder holds snapshots, not documents."""
    return (path / SNAPSHOTS).is_dir() and (path / CURRENT).is_file()


def write(root: Path, version: str, files: Mapping[str, bytes]) -> None:
    """Store a snapshot under its version; one that is already there, undamaged, stays."""
    folder = root / SNAPSHOTS
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / version
    if target.exists():
        if _is_whole(target, files):
            return
        os.rename(target, tempfile.mkdtemp(prefix=".damaged-", dir=folder))
    temporary = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    try:
        temporary.chmod(0o755)
        for name, data in files.items():
            _write_durably(temporary / name, data)
        _sync_folder(temporary)
        os.rename(temporary, target)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        if not _is_whole(target, files):  # else another ingestion stored the same just now
            raise
    _sync_folder(folder)


def switch(root: Path, version: str) -> None:
    """Make a stored version the current one: readers see the old or the new, nothing between."""
    handle, name = tempfile.mkstemp(prefix=".current-", dir=root)
    os.close(handle)
    temporary = Path(name)
    try:
        temporary.chmod(0o644)
        _write_durably(temporary, f"{version}\n".encode())
        os.replace(temporary, root / CURRENT)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(root)


def _is_whole(target: Path, files: Mapping[str, bytes]) -> bool:
    try:
        return all((target / name).read_bytes() == data for name, data in files.items())
    except OSError:
        return False


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class CorpusStore:
    """Reads snapshots. `current` follows the pointer: a new version needs no restart."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._pointer: tuple[tuple[int, int, int], str] | None = None
        self._loaded: OrderedDict[str, Snapshot] = OrderedDict()

    def current(self) -> Snapshot:
        """The snapshot that the pointer names now."""
        version = self.current_version()
        snapshot = self.snapshot(version)
        if snapshot is None:
            raise Misconfigured(
                f"corpus {self._root}: the current snapshot {version} is missing; ingest again"
            )
        return snapshot

    def current_version(self) -> str:
        """The version that the pointer names now: one `stat`, and a read when it has changed."""
        pointer = self._root / CURRENT
        try:
            stat = pointer.stat()
            seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if self._pointer is None or self._pointer[0] != seen:
                self._pointer = (seen, pointer.read_text().strip())
        except OSError as error:
            raise Misconfigured(
                f"corpus {self._root}: nothing has been ingested here; run groundwire ingest PATH"
            ) from error
        return self._pointer[1]

    def holds(self, version: str) -> bool:
        """Whether a version is in memory already, so that reading it costs nothing."""
        return version in self._loaded

    def snapshot(self, version: str) -> Snapshot | None:
        """A version that was ever written here; None if there is none of that name."""
        if (known := self._known(version)) is not None:
            return known
        with self._loading:  # held while reading, so that a slow disk is read once
            snapshot = self._known(version) or self._load(version)
            if snapshot is not None:
                with self._lock:
                    self._loaded[version] = snapshot
                    while len(self._loaded) > KEPT_IN_MEMORY:
                        self._loaded.popitem(last=False)
            return snapshot

    def _known(self, version: str) -> Snapshot | None:
        with self._lock:
            if version in self._loaded:
                self._loaded.move_to_end(version)
            return self._loaded.get(version)

    def _load(self, version: str) -> Snapshot | None:
        folder = self._root / SNAPSHOTS / version
        if not version.isalnum() or not folder.is_dir():
            return None
        try:
            files = {
                name: (folder / name).read_bytes()
                for name in (MANIFEST, DOCUMENTS, PASSAGES, INTENTS)
                if name != INTENTS or (folder / name).exists()
            }
            return parse(version, files)
        except Damaged as error:
            raise self._damaged(version, f"{error} does not match its digest") from error
        except OSError as error:
            raise self._damaged(version, f"{error.filename} cannot be read") from error

    def _damaged(self, version: str, what: str) -> Misconfigured:
        return Misconfigured(
            f"corpus {self._root}: snapshot {version} is damaged: {what}; ingest again"
        )


@dataclass(frozen=True)
class FixedCorpus:
    """One snapshot in memory, for documents that are read in place."""

    only: Snapshot

    def current_version(self) -> str:
        """The one version."""
        return self.only.version

    def holds(self, version: str) -> bool:
        """The one version is always in memory."""
        return version == self.only.version

    def snapshot(self, version: str) -> Snapshot | None:
        """The one version, by its name."""
        return self.only if version == self.only.version else None
