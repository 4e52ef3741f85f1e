"""A copy of a root, taken while anyone ingests: for a backup, and back from one."""

import shutil
from pathlib import Path

from groundwire.files import replace_file

from .manifest import Damaged
from .versions import CURRENT, HISTORY, SNAPSHOTS, check, current_version, damaged_version

__all__ = ["copy_root"]


def copy_root(root: Path, to: Path) -> str | None:
    """Copy every stored version, then say which is current; that one, or None where nothing was ingested.

    Versions are immutable, so what is copied is whole. One that is pruned meanwhile is left out: no open query
    names it. Misconfigured if the current one is damaged.
    """
    version = current_version(root)
    if version is None:
        return None
    told = (root / HISTORY).read_bytes() if (root / HISTORY).exists() else b""
    for folder in sorted((root / SNAPSHOTS).iterdir()):
        if folder.name.isalnum():
            _copy(folder, to / SNAPSHOTS / folder.name)
    try:
        check(to, version)
    except (OSError, Damaged) as error:
        raise damaged_version(root, version, error) from error
    replace_file(to / HISTORY, told, lasts=True)
    replace_file(to / CURRENT, f"{version}\n".encode(), lasts=True)
    return version


def _copy(folder: Path, to: Path) -> None:
    try:
        shutil.copytree(folder, to)
    except (FileNotFoundError, shutil.Error):
        if folder.is_dir():
            raise
        shutil.rmtree(to, ignore_errors=True)
