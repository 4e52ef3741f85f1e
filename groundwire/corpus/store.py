"""Reads the snapshots under a root. The pointer is followed, so a new version needs no restart."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from contracts import Misconfigured

from .manifest import Damaged
from .snapshot import Snapshot
from .versions import CURRENT, folder_of, nothing_ingested

KEPT_OPEN = 3


class CorpusStore:
    """Snapshots by version, the last few of them kept open and so kept from being pruned."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._pointer: tuple[tuple[int, int, int], str] | None = None
        self._open: OrderedDict[str, Snapshot] = OrderedDict()

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
            raise nothing_ingested(self._root) from error
        return self._pointer[1]

    def holds(self, version: str) -> bool:
        """Whether a version is open already, so that asking for it costs nothing."""
        return version in self._open

    def snapshot(self, version: str) -> Snapshot | None:
        """A version that is stored here; None if there is none of that name."""
        if (known := self._known(version)) is not None:
            return known
        with self._loading:  # held while verifying, so that a slow disk is read once
            snapshot = self._known(version) or self._load(version)
            if snapshot is not None:
                with self._lock:
                    self._open[version] = snapshot
                    while len(self._open) > KEPT_OPEN:
                        self._open.popitem(last=False)
            return snapshot

    def _known(self, version: str) -> Snapshot | None:
        with self._lock:
            if version in self._open:
                self._open.move_to_end(version)
            return self._open.get(version)

    def _load(self, version: str) -> Snapshot | None:
        folder = folder_of(self._root, version)
        if not version.isalnum() or not folder.is_dir():
            return None
        try:
            return Snapshot.open(folder, version)
        except Damaged as error:
            raise self._damaged(version, f"{error} does not match its digest") from error
        except OSError as error:
            if not folder.is_dir():  # pruned this very moment
                return None
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
