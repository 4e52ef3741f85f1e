"""The versions under a root: which one is current, which came before, which may go.

`ROOT/snapshots/<version>/…` are immutable; `ROOT/current` names the one that answers; `ROOT/history.jsonl`
tells when which version became current, so that there is a way back and a time until which a version may be named.
"""

import json
import shutil
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from contracts import Invalid, Misconfigured
from groundwire.files import replace_file, sync

from .lock import IngestLock, unread
from .manifest import MANIFEST, Counts, Damaged, Manifest
from .snapshot import verify

SNAPSHOTS, CURRENT, HISTORY = "snapshots", "current", "history.jsonl"


@dataclass(frozen=True)
class Switch:
    """A version became current."""

    version: str
    at: datetime


@dataclass(frozen=True)
class Version:
    """A stored version. `current_until`: when another took over; None while it is current, or if it never was."""

    version: str
    created_at: str
    counts: Counts
    parts: tuple[str, ...]
    is_current: bool
    is_read: bool
    current_until: datetime | None


def is_root(path: Path) -> bool:
    """Whether a folder holds snapshots, not documents."""
    return (path / SNAPSHOTS).is_dir() and (path / CURRENT).is_file()


def folder_of(root: Path, version: str) -> Path:
    """Where a version lies, or would."""
    return root / SNAPSHOTS / version


def current_version(root: Path) -> str | None:
    """The version that the pointer names; None if nothing was ingested yet."""
    try:
        return (root / CURRENT).read_text().strip()
    except FileNotFoundError:
        return None


def switch(root: Path, version: str, *, at: datetime | None = None) -> None:
    """Make a stored version the current one: readers see the old or the new, nothing between."""
    line = json.dumps({"version": version, "at": (at or datetime.now(UTC)).isoformat()})
    # First told, then done: a version that answered for a moment is never missing from the history.
    with (root / HISTORY).open("a") as file:
        file.write(f"{line}\n")
    sync(root / HISTORY)
    replace_file(root / CURRENT, f"{version}\n".encode(), lasts=True)


def history(root: Path) -> list[Switch]:
    """Every switch, oldest first; what a crash cut short is left out."""
    switches = []
    try:
        lines = (root / HISTORY).read_text().splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            value = json.loads(line)
            switches.append(Switch(value["version"], datetime.fromisoformat(value["at"])))
        except (ValueError, KeyError, TypeError):
            continue
    return switches


def retired(switches: Sequence[Switch]) -> dict[str, datetime]:
    """When each version last handed over to another one."""
    until: dict[str, datetime] = {}
    for before, after in pairwise(switches):
        if before.version != after.version:
            until[before.version] = after.at
    return until


def versions(root: Path) -> list[Version]:
    """Every stored version, newest first; one whose manifest can't be read is left out."""
    current, until = current_version(root), retired(history(root))
    found = []
    for folder in _folders(root):
        try:
            manifest = Manifest.from_bytes((folder / MANIFEST).read_bytes(), folder.name)
            with unread(folder / MANIFEST) as alone:
                is_read = not alone
        except (OSError, Damaged):
            continue
        is_current = folder.name == current
        found.append(
            Version(
                version=folder.name,
                created_at=manifest.created_at,
                counts=manifest.counts,
                parts=tuple(sorted(manifest.parts)),
                is_current=is_current,
                is_read=is_read,
                current_until=None if is_current else until.get(folder.name),
            )
        )
    return sorted(found, key=lambda version: version.created_at, reverse=True)


def _folders(root: Path) -> list[Path]:
    folder = root / SNAPSHOTS
    return [path for path in folder.iterdir() if path.name.isalnum()] if folder.is_dir() else []


def ingested_version(root: Path) -> str:
    """The version that is current; Misconfigured where there is none yet."""
    version = current_version(root)
    if version is None:
        raise nothing_ingested(root)
    return version


def nothing_ingested(root: Path) -> Misconfigured:
    """What to say where there is no version yet."""
    return Misconfigured(
        f"corpus {root}: nothing has been ingested here; run `groundwire ingest PATH`"
    )


def damaged_version(root: Path, version: str, error: Exception) -> Misconfigured:
    """What to say where the files of a version aren't as they were written."""
    return Misconfigured(f"corpus {root}: version {version} is damaged: {error}; ingest again")


def rollback(root: Path, version: str | None = None) -> tuple[str, str]:
    """Switch back to a version, by default the one that was current before; from which to which."""
    with IngestLock(root):
        current = ingested_version(root)
        target = version or before(current, history(root), {path.name for path in _folders(root)})
        if target is None:
            raise Invalid(
                f"corpus {root}: no version was current before {current}; see `groundwire corpus list`"
            )
        try:
            check(root, target)
        except (OSError, Damaged) as error:
            raise Invalid(
                f"corpus {root}: version {target} can't be used: {error}; see `groundwire corpus list`"
            ) from error
        switch(root, target)
        return current, target


def before(current: str, switches: Sequence[Switch], stored: Collection[str]) -> str | None:
    """The stored version that was current when `current` last took over."""
    names = [switch.version for switch in switches]
    while names and names[-1] != current:
        names.pop()
    return next((name for name in reversed(names) if name != current and name in stored), None)


def check(root: Path, version: str) -> Manifest:
    """The manifest of a stored version, all of its files verified; Damaged or OSError if one isn't right."""
    if not version.isalnum():
        raise Damaged(MANIFEST)
    folder = folder_of(root, version)
    manifest = Manifest.from_bytes((folder / MANIFEST).read_bytes(), version)
    for name in manifest.files:
        verify(folder, manifest, name)
    return manifest


def prune(root: Path, *, keep: int, grace_s: float, now: datetime | None = None) -> list[str]:
    """Remove old versions; which ones. What answers, is read, or may be named by an open query stays.

    A query that was retrieved from a version before it was replaced names it until its deadline at most: so
    `grace_s` is at least the deadline.
    """
    with IngestLock(root):
        sweep(root)
        gone = []
        for version in prunable(versions(root), keep, grace_s, now or datetime.now(UTC)):
            with unread(folder_of(root, version) / MANIFEST) as alone:
                if alone:
                    _remove(root, version)
                    gone.append(version)
        return gone


def _remove(root: Path, version: str) -> None:
    doomed = Path(tempfile.mkdtemp(prefix=".pruned-", dir=root / SNAPSHOTS))
    folder_of(root, version).rename(doomed / version)  # so that nobody opens half of it
    shutil.rmtree(doomed)


def prunable(stored: Sequence[Version], keep: int, grace_s: float, now: datetime) -> list[str]:
    """The versions that may go: neither current, nor read, nor among the `keep` newest, nor just replaced."""
    return [
        version.version
        for place, version in enumerate(stored)
        if place >= keep
        and not (version.is_current or version.is_read)
        and not _is_fresh(version, grace_s, now)
    ]


def _is_fresh(version: Version, grace_s: float, now: datetime) -> bool:
    until = version.current_until
    return until is not None and (now - until).total_seconds() <= grace_s


def sweep(root: Path) -> None:
    """Remove what a killed ingestion or prune left behind. The lock is held, so nobody is writing it."""
    if (root / SNAPSHOTS).is_dir():
        for path in (root / SNAPSHOTS).glob(".*-*"):
            shutil.rmtree(path, ignore_errors=True)
