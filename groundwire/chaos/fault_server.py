"""Faults of the server: killed, frozen, full, without its scripts, without a group.

They spell the server's own commands: whoever attacks it is no client of the bus.
"""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress

from contracts.ids import lane_of_query

from .arena import Arena, in_thread
from .plan import Fault, Strike

_POLL_S = 0.05
_DESTROY = "redis.pcall('XGROUP', 'DESTROY', KEYS[1], ARGV[1])"
_PUT_ASIDE = """
local key, aside, string = KEYS[1], KEYS[2], KEYS[3]
if redis.call('TYPE', key).ok ~= 'stream' or redis.call('EXISTS', aside) == 1 then return 0 end
if redis.pcall('SET', string, 'of another type').err then return 0 end
redis.call('RENAME', key, aside)
redis.call('RENAME', string, key)
return 1
"""
_PUT_BACK = "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end"
_SPOIL = """
for i, query_id in ipairs(ARGV) do
  if redis.call('ZSCORE', KEYS[1], query_id) then redis.pcall('LPUSH', KEYS[i + 1], 'of another type') end
end
"""


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
    await arena.command("SCRIPT", "FLUSH", lane=arena.keys(strike).lane)


async def _destroy_group(arena: Arena, strike: Strike) -> None:
    await arena.command("EVAL", _DESTROY, 1, arena.work_stream(strike), strike.stage)


async def _change_types(arena: Arena, strike: Strike) -> None:
    """Answers, events and a work stream make way for strings, result keys of open queries become lists."""
    keys = arena.keys(strike)
    async with AsyncExitStack() as stack:
        # The work stream last: without it, the other two may never come to be.
        for key in (keys.of("results.answered"), keys.events, arena.work_stream(strike)):
            stack.push_async_callback(_put_back, arena, key)
            await _put_aside(arena, key)
        waiting = [one for one in arena.book.waiting if lane_of_query(one) == keys.lane]
        names = (keys.open, *map(keys.result, waiting))
        await arena.command("EVAL", _SPOIL, len(names), *names, *waiting)
        await asyncio.sleep(strike.lasts_s)


async def _put_aside(arena: Arena, key: str) -> None:
    names = (key, _aside(key), f"{key}:chaos:string")
    while not await arena.command("EVAL", _PUT_ASIDE, len(names), *names):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_S)  # the server is full, or another fault has the key


async def _put_back(arena: Arena, key: str) -> None:
    await arena.command("EVAL", _PUT_BACK, 2, key, _aside(key))


def _aside(key: str) -> str:
    return f"{key}:chaos:aside"


SERVER = (
    Fault(
        "server-kill",
        "kill -9 of the server, started again on its data",
        0.3,
        2.0,
        _kill,
        needs="own server",
    ),
    Fault(
        "server-freeze",
        "SIGSTOP of the server for some seconds",
        2.0,
        3.5,
        _freeze,
        needs="own server",
    ),
    Fault(
        "memory",
        "the server is full and refuses writes, then has room again",
        0.8,
        2.0,
        _fill,
        needs="own server",
    ),
    Fault("scripts", "SCRIPT FLUSH: the server forgets its scripts", 0.0, 0.0, _forget_scripts),
    Fault("group", "XGROUP DESTROY on a stage with work in it", 0.0, 0.0, _destroy_group),
    Fault(
        "types",
        "answers, events, a work stream and some result keys hold another type for a while",
        0.5,
        1.5,
        _change_types,
    ),
)
