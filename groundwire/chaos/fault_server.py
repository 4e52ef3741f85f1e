"""Faults of the server: killed, frozen, full, without its scripts, without a group.

They spell the server's own commands: whoever attacks it is no client of the bus.
"""

import asyncio
import os
import signal
from contextlib import suppress

from .arena import Arena, in_thread
from .plan import Fault, Strike


async def _kill(arena: Arena, strike: Strike) -> None:
    async with arena.killing:
        await in_thread(arena.server.kill)
        try:
            await asyncio.sleep(strike.lasts_s)
        finally:
            await in_thread(arena.server.start)


async def _freeze(arena: Arena, strike: Strike) -> None:
    """Without effect where an overlapping fault has the server down."""
    _signal(arena, signal.SIGSTOP)
    try:
        await asyncio.sleep(strike.lasts_s)
    finally:
        _signal(arena, signal.SIGCONT)


def _signal(arena: Arena, number: signal.Signals) -> None:
    pid = arena.server.pid
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


async def _fill(arena: Arena, strike: Strike) -> None:
    await arena.command("CONFIG", "SET", "maxmemory", "1mb")
    try:
        await asyncio.sleep(strike.lasts_s)
    finally:
        await arena.command("CONFIG", "SET", "maxmemory", "0")


async def _forget_scripts(arena: Arena, strike: Strike) -> None:
    await arena.command("SCRIPT", "FLUSH")


async def _destroy_group(arena: Arena, strike: Strike) -> None:
    await arena.command("XGROUP", "DESTROY", arena.work_stream(strike.stage), strike.stage)


SERVER = (
    Fault("server-kill", "kill -9 of the server, started again on its data", 0.3, 2.0, _kill),
    Fault("server-freeze", "SIGSTOP of the server for some seconds", 2.0, 3.5, _freeze),
    Fault("memory", "the server is full and refuses writes, then has room again", 0.8, 2.0, _fill),
    Fault("scripts", "SCRIPT FLUSH: the server forgets its scripts", 0.0, 0.0, _forget_scripts),
    Fault("group", "XGROUP DESTROY on a stage with work in it", 0.0, 0.0, _destroy_group),
)
