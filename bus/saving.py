"""Have a server write its data as they are at one moment to its own folder: for a backup."""

import asyncio
import time

from redis import exceptions as errors

from contracts import Transient, Unreachable

from .backend import Backend
from .facts import info_of
from .wire import Wire

__all__ = ["save"]

LOOK_S = 0.05
_BUSY = ("already in progress", "can't BGSAVE")
"""Another save, or a rewrite of the append-only file: both end by themselves."""


async def save(backend: Backend, *, within_s: float) -> None:
    """Return when the server has written `dump.rdb`: every script whole or not at all. Unreachable if it can't.

    A child of the server writes, so commands go on meanwhile.
    """
    wire = Wire(backend, 5.0)
    deadline = time.monotonic() + within_s
    try:
        while not await _has_begun(wire):
            await _wait(deadline)
        while (facts := info_of(await wire.call("INFO", "persistence")))[
            "rdb_bgsave_in_progress"
        ] != "0":
            await _wait(deadline)
        if facts["rdb_last_bgsave_status"] != "ok":
            raise Unreachable(
                "the server could not save its data: is its disk full? its log says why"
            )
    finally:
        await wire.close()


async def _has_begun(wire: Wire) -> bool:
    try:
        await wire.call("BGSAVE")
    except errors.ResponseError as error:
        if any(reason in str(error) for reason in _BUSY):
            return False
        raise Unreachable(f"the server doesn't save its data: {error}") from error
    return True


async def _wait(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise Transient("the server is still saving its data: try again later")
    await asyncio.sleep(LOOK_S)
