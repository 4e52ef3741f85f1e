"""Putting a backup back where nothing is: checked first, and nothing of anyone's is overwritten."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts import Invalid, Misconfigured
from groundwire.corpus import copy_root
from groundwire.embedded import SystemLock, holds_data, put_back
from groundwire.settings import Settings

from .configuration import differences
from .manifest import DUMP, Manifest, check, read

__all__ = ["Restored", "restore_backup"]


@dataclass(frozen=True)
class Restored:
    """What was put back, and the names of the settings that were others when it was made."""

    manifest: Manifest
    differences: tuple[str, ...]


async def restore_backup(
    settings: Settings,
    folder: Path,
    *,
    with_server: bool = True,
    on_step: Callable[[str], None] = lambda step: None,
) -> Restored:
    """Put corpus and server's data in their places. Invalid where a system runs, or either is there already."""
    manifest = read(folder)
    on_step("checking every file")
    await asyncio.to_thread(check, folder, manifest)
    has_server = with_server and manifest.server is not None
    if has_server and settings.redis_url is not None:
        raise Misconfigured(
            f"a server of your own takes {folder / DUMP} by its own tools (docs/operations.md, Backup "
            "and restore); --no-server restores the corpus"
        )
    lock = await SystemLock.acquire(settings.home)
    if lock is None:
        raise Invalid(f"a system is up in {settings.home}: stop it first")
    with lock:
        _refuse_to_overwrite(settings, manifest, has_server=has_server)
        on_step("copying")
        if manifest.corpus is not None:
            await asyncio.to_thread(_put_corpus, folder / "corpus", settings.corpus)
        if has_server:
            await asyncio.to_thread(put_back, settings.home, folder / DUMP)
    return Restored(manifest, differences(settings, folder))


def _refuse_to_overwrite(settings: Settings, manifest: Manifest, *, has_server: bool) -> None:
    cure = "move it away, or set GROUNDWIRE_HOME to another folder"
    if has_server and holds_data(settings.home):
        raise Invalid(f"{settings.home / 'server'} holds data, and nothing is overwritten: {cure}")
    if manifest.corpus is not None and settings.corpus.exists():
        raise Invalid(f"{settings.corpus} exists, and nothing is overwritten: {cure}")


def _put_corpus(source: Path, root: Path) -> None:
    draft = root.with_name(f"{root.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    copy_root(source, draft)
    draft.rename(root)
