"""A file's bytes as they were at one moment."""

import os
import stat
from pathlib import Path

from ..model import Problem
from .source import SourceFile


def load(file: SourceFile, *, most_bytes: int, attempts: int = 3) -> bytes | Problem:
    """The bytes of a file; a Problem if it can't be had, or never stands still."""
    for _ in range(attempts):
        try:
            raw = _read_once(file.path, most_bytes)
        except OSError as error:
            return Problem(file.name, f"cannot be opened: {error.strerror or error}")
        except ValueError as error:
            return Problem(file.name, str(error))
        if raw is not None:
            return raw
    return Problem(file.name, "changed while it was read")


def _read_once(path: Path, most_bytes: int) -> bytes | None:
    """The bytes; None if the file changed meanwhile, ValueError if it is none that can be read."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would wait for a writer
        raise ValueError("is not a regular file")
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        if before.st_size > most_bytes:
            raise ValueError(f"is larger than {most_bytes} bytes")
        raw = file.read(most_bytes + 1)
        after = os.fstat(file.fileno())
    stood_still = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return raw if stood_still and len(raw) == before.st_size else None
