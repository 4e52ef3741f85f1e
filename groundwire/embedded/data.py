"""The server's data in its folder: taken out as a dump, put back as what it starts from."""

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["holds_data", "put_back", "take_dump"]

DUMP = "dump.rdb"
BASE = "appendonly.aof"
"""An append-only file of one piece, which may begin with a dump: every version reads it, and newer ones split it."""
KEPT = (BASE, "appendonlydir", DUMP)


def take_dump(home: Path, to: Path) -> None:
    """Copy the dump that the server has just written, and remove it: the data are in the append-only file."""
    own = home / "server" / f"{DUMP}.{secrets.token_hex(4)}"
    (home / "server" / DUMP).rename(own)  # another backup's dump has the same name
    try:
        shutil.copyfile(own, to)
    finally:
        own.unlink()


def holds_data(home: Path) -> bool:
    """Whether a server started here would find data."""
    return any((home / "server" / name).exists() for name in KEPT)


def put_back(home: Path, dump: Path) -> None:
    """Have the next server of this home start from a dump. There were no data before, and none is ever half there."""
    assert not holds_data(home)
    folder = home / "server"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f"{BASE}.{secrets.token_hex(4)}"
    try:
        shutil.copyfile(dump, draft)
        draft.chmod(0o600)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.rename(folder / BASE)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
