"""Parts that are added to a snapshot: in a later snapshot of the same documents, which shares its other files."""

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from groundwire.files import replace_file

from .parts import OnProgress, Part, Progress, wanted
from .snapshot import Snapshot
from .staging import publish, staging
from .versions import folder_of, switch

TIDIED = "tidied"
"""Names the version that caches were last cleaned for."""


@dataclass(frozen=True)
class Staged:
    """A snapshot that is being written, and the one before it, whose parts may be built upon."""

    folder: Path
    snapshot: Snapshot
    before: Snapshot | None


def build_parts(staged: Staged, parts: Sequence[Part], on_progress: OnProgress) -> dict[str, str]:
    """Build parts of a staged snapshot, and say how each was. Invariant: all hold every passage."""
    built, snapshot = {}, staged.snapshot
    for part in parts:
        on_progress(Progress(part.name, 0, snapshot.counts.passages))
        found = part.build(staged.folder / part.name, snapshot, staged.before, on_progress)
        agree(f"in {part.name}", found, snapshot.counts.passages)
        built[part.name] = part.how
    return built


def grow(root: Path, version: str, parts: Sequence[Part], on_progress: OnProgress) -> str:
    """Bring the parts of the current version in line with what is wanted; the version that is current then.

    The lock is held. Until a part is done, the version without it answers.
    """
    snapshot = Snapshot.open(folder_of(root, version), version)
    try:
        wished = wanted(parts, snapshot.counts)
        had = snapshot.manifest.parts
        if had != {name: part.how for name, part in wished.items()}:
            version = _regrow(root, snapshot, wished, on_progress)
            switch(root, version)
        _tidy(root, version, snapshot, wished)
        return version
    finally:
        snapshot.close()


def _tidy(root: Path, version: str, snapshot: Snapshot, parts: Mapping[str, Part]) -> None:
    """Let caches drop what is gone, once for each version that becomes current, also after a crash."""
    done = root / TIDIED
    if done.is_file() and done.read_text().strip() == version:
        return
    for part in parts.values():
        part.forget(snapshot)
    replace_file(done, f"{version}\n".encode(), lasts=True)


def _regrow(
    root: Path, snapshot: Snapshot, wished: dict[str, Part], on_progress: OnProgress
) -> str:
    manifest = snapshot.manifest
    kept = {name: how for name, how in manifest.parts.items() if _is_as(wished.get(name), how)}
    files = {name: sha for name, sha in manifest.files.items() if _is_kept(name, kept)}
    with staging(root) as staged:
        for name in files:
            _share(folder_of(root, snapshot.version) / name, staged / name)
        new = [part for name, part in wished.items() if name not in kept]
        built = build_parts(Staged(staged, snapshot, None), new, on_progress)
        made = datetime.now(UTC).isoformat(timespec="microseconds")
        grown = replace(manifest, parts=kept | built, files=files, created_at=made)
        publish(root, staged, grown)
    return grown.version


def _is_kept(file: str, parts: Collection[str]) -> bool:
    folder, in_a_part, _ = file.partition("/")
    return not in_a_part or folder in parts


def _share(file: Path, other: Path) -> None:
    """One file under two names, so that its pages are shared too; a copy where there are no links."""
    other.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(file, other)
    except OSError:
        shutil.copyfile(file, other)


def _is_as(part: Part | None, how: str) -> bool:
    return part is not None and part.how == how


def agree(what: str, found: object, produced: object) -> None:
    """Raise unless a part of a snapshot holds what was produced: nothing else becomes current."""
    if found != produced:
        raise RuntimeError(f"{what}: {found}, produced: {produced}; the snapshot is not used")
