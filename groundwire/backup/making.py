"""Making a backup of a running system: at one moment of the server's, with whatever that names."""

import asyncio
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bus.facts import ask_server
from bus.saving import save
from contracts import Invalid, Misconfigured
from groundwire.client import server_at, system_url
from groundwire.corpus import copy_root
from groundwire.embedded import take_dump
from groundwire.files import sync, sync_tree
from groundwire.settings import Settings

from .configuration import keep_settings
from .manifest import DUMP, MANIFEST, Manifest, digests_of

__all__ = ["make_backup"]

SAVE_S = 600.0


async def make_backup(
    settings: Settings,
    folder: Path,
    *,
    with_server: bool = True,
    on_step: Callable[[str], None] = lambda step: None,
) -> Manifest:
    """Write a new folder, whole or not at all; what it holds.

    The corpus is copied after the server's data, so that every version that an open query names is in it.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    _make(folder, partial)
    try:
        server = await _server(settings, partial / DUMP, on_step) if with_server else None
        on_step("copying the corpus")
        corpus = await asyncio.to_thread(copy_root, settings.corpus, partial / "corpus")
        await asyncio.to_thread(keep_settings, settings, partial)
        on_step("computing digests")
        manifest = Manifest(
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            groundwire=version("groundwire"),
            server=server,
            corpus=corpus,
            files=await asyncio.to_thread(digests_of, partial),
        )
        await asyncio.to_thread(_finish, partial, folder, manifest)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, partial, ignore_errors=True)
        raise
    return manifest


def _make(folder: Path, partial: Path) -> None:
    if folder.exists():
        raise Invalid(
            f"{folder} exists already, and a backup overwrites nothing: name another folder"
        )
    try:
        partial.mkdir(mode=0o700, parents=True)
    except FileExistsError as error:
        raise Invalid(
            f"{partial} is there: another backup is writing it, or was cut short; then remove it"
        ) from error
    except OSError as error:
        raise Misconfigured(f"{partial} can't be made: {error.strerror}") from error


async def _server(settings: Settings, dump: Path, on_step: Callable[[str], None]) -> str:
    if settings.redis_url is not None:
        raise Misconfigured(
            "a server of your own is saved by its own tools (docs/operations.md, Backup and restore); "
            "--no-server saves corpus and settings"
        )
    backend = server_at(await system_url(settings), settings)
    on_step("saving the server's data")
    await save(backend, within_s=SAVE_S)
    dump.parent.mkdir(mode=0o700)
    await asyncio.to_thread(take_dump, settings.home, dump)
    info = (await ask_server(backend, timeout_s=5.0, clock=time.time)).info
    name = info.get("server_name", "redis")
    return f"{name} {info.get(f'{name}_version', info.get('redis_version', '?'))}"


def _finish(partial: Path, folder: Path, manifest: Manifest) -> None:
    (partial / MANIFEST).write_bytes(manifest.to_bytes())
    sync_tree(partial)
    partial.rename(folder)
    sync(folder.parent)
