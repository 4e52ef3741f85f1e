"""Paths into a list of files to read: walks folders and opens their `labels.toml` alone. What can't go in is named."""

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..model import Problem
from . import labels as label_files
from .labels import FolderLabels
from .metadata import BadLabels
from .source import MAX_NAME_CHARS, SourceFile


@dataclass
class Listing:
    """What was found. `ignored`: files and links of a folder that are no documents of their own."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Endings:
    """Of files, in lower case: those taken from folders, and those taken only when a path names them."""

    in_folders: Collection[str]
    by_path: Collection[str]


@dataclass(frozen=True)
class _Folder:
    """A folder on the way: `names` below the root, `within` the folders that lead to it."""

    path: Path
    names: tuple[str, ...] = ()
    within: tuple[tuple[int, int], ...] = ()


def list_files(
    paths: Iterable[Path], endings: Endings, labels: tuple[str, ...] | None = None
) -> Listing:
    """The files of these paths. `labels`: of those that neither they nor a folder's rules say otherwise of."""
    paths, listing = list(paths), Listing()
    for path in paths:
        if path.is_dir():
            prefix = f"{path.resolve().name}/" if len(paths) > 1 else ""
            _list_folder(path, prefix, endings, labels, listing)
        elif path.suffix.lower() in {*endings.in_folders, *endings.by_path}:
            rules = _Rules()
            if (beside := path.parent / label_files.FILE_NAME).is_file():
                rules.read(beside, "", listing)
            _take(path, path.name, rules.of(path.name, labels), listing)
        else:
            kinds = ", ".join(sorted({*endings.in_folders, *endings.by_path}))
            reason = f"not a folder or a file of a known kind ({kinds})"
            missing = "no such file or folder"
            listing.problems.append(Problem(str(path), reason if path.exists() else missing))
    return listing


def _list_folder(
    root: Path,
    prefix: str,
    endings: Endings,
    labels: tuple[str, ...] | None,
    listing: Listing,
) -> None:
    found, rules = list(_walk(root, prefix, listing)), _Rules()
    for path, name in found:
        if path.name == label_files.FILE_NAME:
            rules.read(path, name[: -len(path.name)], listing)
    for path, name in found:
        if path.suffix.lower() in endings.in_folders:
            _take(path, prefix + name, rules.of(name, labels), listing)
        elif path.name != label_files.FILE_NAME:
            listing.ignored.append(_printable(prefix + name))


@dataclass(frozen=True)
class _Refused:
    """No labels are known: what has them might not be public."""

    reason: str


_Found = tuple[str, ...] | _Refused | None


class _Rules:
    """The `labels.toml` files of a tree, by their folder: `""` or a path that ends with `/`."""

    def __init__(self) -> None:
        self._by_folder: dict[str, FolderLabels | _Refused] = {}

    def read(self, path: Path, folder: str, listing: Listing) -> None:
        """Read one; a bad one leaves out all that is below it."""
        name = folder + path.name
        try:
            self._by_folder[folder] = label_files.parse(path.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError, BadLabels) as error:
            listing.problems.append(Problem(_printable(name), str(error)))
            self._by_folder[folder] = _Refused(f"its labels are not known: see {name}")

    def of(self, name: str, default: tuple[str, ...] | None) -> _Found:
        """The labels of a path, by the nearest file that speaks of it."""
        if not self._by_folder:
            return default
        for above in PurePosixPath(name).parents:
            folder = "" if str(above) == "." else f"{above}/"
            rules = self._by_folder.get(folder)
            if isinstance(rules, _Refused):
                return rules
            if rules and (found := rules.of(name[len(folder) :])):
                return found
        return default


def _take(path: Path, name: str, labels: _Found, listing: Listing) -> None:
    if name != _printable(name):
        listing.problems.append(Problem(_printable(name), "its name is not valid UTF-8"))
    elif len(name) > MAX_NAME_CHARS:
        reason = f"its path is longer than {MAX_NAME_CHARS} characters"
        listing.problems.append(Problem(name, reason))
    elif isinstance(labels, _Refused):
        listing.problems.append(Problem(name, labels.reason))
    else:
        listing.files.append(SourceFile(unicodedata.normalize("NFC", name), path, labels))


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _walk(root: Path, prefix: str, listing: Listing) -> Iterator[tuple[Path, str]]:
    """The folder's files in order of their names, hidden ones left out.

    Links to folders are followed after the folders themselves, and each folder is read once: so links may form
    loops, or fans of loops, and the walk still ends.
    """
    found: list[tuple[tuple[str, ...], Path]] = []
    seen: set[tuple[int, int]] = set()
    folders, links = [_Folder(root)], list[_Folder]()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        name = prefix + "/".join(folder.names) or str(root)
        try:
            identity = _identity(folder.path)
            if identity in folder.within:
                reason = "links back to a folder that it is in"
                listing.problems.append(Problem(_printable(name), reason))
            elif identity in seen:
                listing.ignored.append(_printable(name))
            else:
                seen.add(identity)
                _enter(folder, identity, folders, links, found)
        except OSError as error:
            reason = f"cannot be opened: {error.strerror or error}"
            listing.problems.append(Problem(_printable(name), reason))
    for names, path in sorted(found):
        yield path, "/".join(names)


def _enter(
    folder: _Folder,
    identity: tuple[int, int],
    folders: list[_Folder],
    links: list[_Folder],
    found: list[tuple[tuple[str, ...], Path]],
) -> None:
    """Add what is in a folder to what was found, and to what is to be walked."""
    for entry in sorted(os.scandir(folder.path), key=lambda entry: entry.name):
        names = (*folder.names, entry.name)
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            inner = _Folder(Path(entry.path), names, (*folder.within, identity))
            (links if entry.is_symlink() else folders).append(inner)
        else:
            found.append((names, Path(entry.path)))


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
