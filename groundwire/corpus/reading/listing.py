"""Paths into a list of files to read: walks folders, opens nothing. What can't go in is named."""

import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..model import Problem
from .source import SourceFile

MAX_NAME_CHARS = 180


@dataclass
class Listing:
    """What was found. `ignored`: files and links of a folder that are no documents of their own."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Folder:
    """A folder on the way: `names` it is cited by, `within` the folders that lead to it."""

    path: Path
    names: tuple[str, ...]
    within: tuple[tuple[int, int], ...] = ()


def list_files(
    paths: Iterable[Path], in_folders: Collection[str], alone: Collection[str]
) -> Listing:
    """The files of these paths. Endings: those taken from folders, and those that a path may name besides."""
    paths, listing = list(paths), Listing()
    for path in paths:
        if path.is_dir():
            prefix = (path.resolve().name,) if len(paths) > 1 else ()
            for file, name in _walk(_Folder(path, prefix), listing):
                _take(file, name, in_folders, listing)
        elif path.suffix.lower() in {*in_folders, *alone}:
            _take(path, path.name, {*in_folders, *alone}, listing)
        else:
            kinds = ", ".join(sorted({*in_folders, *alone}))
            reason = f"not a folder or a file of a known kind ({kinds})"
            missing = "no such file or folder"
            listing.problems.append(Problem(str(path), reason if path.exists() else missing))
    return listing


def _take(path: Path, name: str, endings: Collection[str], listing: Listing) -> None:
    if path.suffix.lower() not in endings:
        listing.ignored.append(_printable(name))
    elif name != _printable(name):
        listing.problems.append(Problem(_printable(name), "its name is not valid UTF-8"))
    elif len(name) > MAX_NAME_CHARS:
        reason = f"its path is longer than {MAX_NAME_CHARS} characters"
        listing.problems.append(Problem(name, reason))
    else:
        listing.files.append(SourceFile(unicodedata.normalize("NFC", name), path))


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _walk(root: _Folder, listing: Listing) -> Iterator[tuple[Path, str]]:
    """The folder's files in order of their names, hidden ones left out.

    Links to folders are followed after the folders themselves, and each folder is read once: so links may form
    loops, or fans of loops, and the walk still ends.
    """
    found: list[tuple[tuple[str, ...], Path]] = []
    seen: set[tuple[int, int]] = set()
    folders, links = [root], list[_Folder]()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        name = "/".join(folder.names) or str(folder.path)
        try:
            identity = _identity(folder.path)
            if identity in folder.within:
                listing.problems.append(Problem(name, "links back to a folder that it is in"))
                continue
            if identity in seen:
                listing.ignored.append(name)
                continue
            seen.add(identity)
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        except OSError as error:
            reason = f"cannot be opened: {error.strerror or error}"
            listing.problems.append(Problem(name, reason))
            continue
        within = (*folder.within, identity)
        for entry in entries:
            names = (*folder.names, entry.name)
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                inner = _Folder(Path(entry.path), names, within)
                (links if entry.is_symlink() else folders).append(inner)
            else:
                found.append((names, Path(entry.path)))
    for names, path in sorted(found):
        yield path, "/".join(names)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def load(file: SourceFile, *, most_bytes: int, attempts: int = 3) -> bytes | Problem:
    """A file's bytes as they were at one moment; a Problem if it can't be had, or never stands still."""
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
