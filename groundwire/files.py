"""Files that are there whole or not at all, where asked for also after the power went. Knows none of ours."""

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

PRIVATE = 0o600
"""Its owner's alone."""


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, data: bytes, *, mode: int = 0o644, lasts: bool = False) -> None:
    """Replace a file at once: readers see the old bytes or the new, and nobody sees a draft of them.

    `lasts`: also after the power went, for the price of waiting for the disk.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
            if lasts:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if lasts:
        sync(path.parent)


def sync_tree(folder: Path) -> None:
    """Wait until the disk has everything below a folder."""
    for path in sorted(folder.rglob("*"), reverse=True):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        with contextlib.suppress(AttributeError, OSError):  # the pages will be needed: read ahead
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        return hashlib.file_digest(file, "sha256").hexdigest()
