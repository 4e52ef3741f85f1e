"""What a process of the benchmark does: run stages of one side, or publish for it, as told through a pipe."""

import asyncio
import ctypes
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import redis.asyncio as aioredis

from contracts import Query
from groundwire import loop

from . import bare, ours

Loop = Callable[[Coroutine[Any, Any, None]], None]
Serve = Callable[[str, str, Callable[[], None]], Coroutine[Any, Any, None]]
SERVE: dict[str, Serve] = {"ours": ours.serve, "bare": bare.serve}
RESULTS = {"ours": ours.RESULTS, "bare": bare.RESULTS}
LOOP: dict[str, Loop] = {"ours": loop.run, "bare": asyncio.run}
Publish = Callable[[Sequence[Query]], Awaitable[object]]
READY = "ready"
_CHUNK = 100
_TEXT = "What is the refund policy for annual plans?"


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, however that ends: it may be frozen then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def run_stages(url: str, side: str, stages: Sequence[str], pipe: Connection) -> None:
    """Work as these stages, for ever; says READY for each that reads."""
    die_with_parent()

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for stage in stages:
                group.create_task(SERVE[side](url, stage, partial(pipe.send, READY)))

    LOOP[side](run())


def run_client(url: str, side: str, pipe: Connection) -> None:
    """Carry out orders, (`burst` or `single`, how many), for ever; sends back their figures."""
    die_with_parent()
    LOOP[side](_take_orders(url, side, pipe))


async def _take_orders(url: str, side: str, pipe: Connection) -> None:
    async with AsyncExitStack() as stack:
        r = await stack.enter_async_context(aioredis.Redis.from_url(url, socket_timeout=None))
        publish: Publish = partial(bare.publish, r)
        if side != "bare":
            client = await stack.enter_async_context(ours.client(url))
            publish = client.submit_many
        pipe.send(READY)
        while True:
            order, count = await asyncio.to_thread(pipe.recv)
            if order == "burst":
                pipe.send(await burst(publish, count))
            else:
                pipe.send(await single(r, RESULTS[side], publish, count))


def make_query(number: int) -> Query:
    """A question whose session_id is the time it was made, so that any reader can time its result."""
    now = time.monotonic_ns()
    return Query(query_id=f"0-{now}-{number}", text=_TEXT, session_id=str(now))


async def burst(publish: Publish, count: int) -> float:
    """Publish `count` queries as fast as the publisher can; seconds it took."""
    started = time.monotonic()
    for first in range(0, count, _CHUNK):
        await publish([make_query(number) for number in range(first, min(count, first + _CHUNK))])
    return time.monotonic() - started


async def single(r: "aioredis.Redis", results: str, publish: Publish, count: int) -> list[float]:
    """Publish one query, wait for its result, and so on; the milliseconds of each."""
    found: Any = await r.xrevrange(results, count=1)
    last = found[0][0] if found else "0"
    times = []
    for number in range(count):
        query = make_query(number)
        started = time.monotonic()
        await publish([query])
        reply: Any = await r.xread({results: last}, block=30_000)
        times.append((time.monotonic() - started) * 1000)
        ((last, fields),) = reply[0][1]
        assert query.query_id.encode() in fields[b"event"], "a result of another query"
    return times
