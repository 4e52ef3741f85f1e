"""What a process of a side does: work as a hop, or publish as told through a pipe. Nothing here knows a library."""

import asyncio
import importlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import redis.asyncio as aioredis

from ..child import READY, die_with_parent
from .sides import Side

Publish = Callable[[Sequence[str]], Awaitable[object]]
_CHUNK = 100
_QUERY_ID = re.compile(rb'query_id\\?"\s*:\s*\\?"([^"\\]+)')


def run_hop(url: str, side: Side, hop: int, pipe: Connection) -> None:
    """Work as this hop, for ever; says READY when it reads."""
    chain = _begin(side)
    _run(side, chain.serve(url, hop, partial(pipe.send, READY), **side.settings))


def run_client(url: str, side: Side, pipe: Connection) -> None:
    """Carry out orders, (`burst` or `single`, how many), for ever; sends back their figures."""
    _run(side, _take_orders(url, side, _begin(side), pipe))


def query_id_in(fields: dict[bytes, bytes]) -> bytes:
    """The query a result is of, however its library wraps messages."""
    for value in fields.values():
        if found := _QUERY_ID.search(value):
            return found[1]
    raise AssertionError("not a result")


def _begin(side: Side) -> Any:
    die_with_parent()
    logging.disable(logging.WARNING)
    return importlib.import_module(f"{__package__}.{side.module}")


def _run(side: Side, work: Coroutine[Any, Any, None]) -> None:
    if side.uvloop:
        importlib.import_module("uvloop").run(work)
    else:
        asyncio.run(work)


async def _take_orders(url: str, side: Side, chain: Any, pipe: Connection) -> None:
    r = aioredis.Redis.from_url(url, socket_timeout=None)
    async with r, chain.client(url, **side.settings) as publish:
        pipe.send(READY)
        while True:
            order, count = await asyncio.to_thread(pipe.recv)
            if order == "burst":
                pipe.send(await _burst(publish, count))
            else:
                pipe.send(await _single(r, side.results, publish, count))


def _new_id(number: int) -> str:
    return f"0-{time.monotonic_ns()}-{number}"


async def _burst(publish: Publish, count: int) -> float:
    """Publish `count` as fast as the library's bulk call can; the monotonic time of the first."""
    started = time.monotonic()
    for first in range(0, count, _CHUNK):
        await publish([_new_id(number) for number in range(first, min(count, first + _CHUNK))])
    return started


async def _single(r: "aioredis.Redis", results: str, publish: Publish, count: int) -> list[float]:
    """Publish one, wait for its result, and so on; the milliseconds of each."""
    found: Any = await r.xrevrange(results, count=1)
    last, times = found[0][0] if found else "0", []
    for number in range(count):
        query_id = _new_id(number)
        started = time.monotonic()
        await publish([query_id])
        reply: Any = await r.xread({results: last}, block=30_000)
        times.append((time.monotonic() - started) * 1000)
        assert reply, "no result in 30 s"
        ((last, fields),) = reply[0][1]
        assert query_id_in(fields) == query_id.encode(), "a result of another query"
    return times
