"""A snapshot on its way: written beside the others, complete before it is given its name."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from groundwire.files import digest_of, sync, sync_tree, write_file

from .manifest import MANIFEST, Damaged, Manifest
from .versions import SNAPSHOTS, check, folder_of


@contextmanager
def staging(root: Path) -> Iterator[Path]:
    """A folder that is gone afterwards, unless it was published."""
    (root / SNAPSHOTS).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".writing-", dir=root / SNAPSHOTS))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(root: Path, staged: Path, manifest: Manifest) -> Manifest:
    """Give a staged snapshot its name, durably; the same version that is already there, undamaged, stays.

    Digests that the manifest has already are kept: damage to a shared file is not made true by it.
    """
    if _is_whole(root, manifest.version):
        return manifest
    files = sorted(path for path in staged.rglob("*") if path.is_file())
    names = {path.relative_to(staged).as_posix(): path for path in files}
    digests = {name: manifest.files.get(name) or digest_of(path) for name, path in names.items()}
    manifest = replace(manifest, files=digests)
    write_file(staged / MANIFEST, manifest.to_bytes())
    sync_tree(staged)
    target = folder_of(root, manifest.version)
    if target.exists():  # damaged: whoever has it open keeps reading what it opened
        os.rename(target, Path(tempfile.mkdtemp(prefix=".damaged-", dir=target.parent)) / "it")
    os.rename(staged, target)
    sync(target.parent)
    return manifest


def _is_whole(root: Path, version: str) -> bool:
    try:
        check(root, version)
    except (OSError, Damaged):
        return False
    return True
