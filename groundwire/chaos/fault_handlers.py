"""Faults of handlers: slow, too slow, CPU-bound, wedged, failing at first, and one that ends its process."""

import asyncio

from .agents import Kind, Mark
from .arena import Arena
from .book import Asked
from .plan import Fault, Strike

_MARKED = 6
QUEUED = 12
"""Hasty queries more than a stage has runners."""


async def _misbehave(arena: Arena, strike: Strike, kind: Kind, count: int) -> None:
    """Ask marked queries and return when all have their results; the account says so if one never has."""
    mark = Mark(kind, strike.stage, int(strike.lasts_s * 1000))
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(arena.load.ask(mark)) for _ in range(count)]
    await arena.book.all_answered([task.result() for task in asking])


async def _slow(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "slow", _MARKED)


async def _busy(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "busy", 1)


async def _flaky(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "flaky", _MARKED)


async def _poison(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "poison", 1)


async def _wedge(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "wedge", 1)


async def _deadline(arena: Arena, strike: Strike) -> None:
    await ask_hastily(arena, strike)


async def ask_hastily(arena: Arena, strike: Strike) -> list[Asked]:
    """Ask more than a stage's runners, each slower there than the deadline; returns when all have results.

    For those that run, it passes meanwhile: answered late by the last stage, failed at the next one after any
    other. For the rest it passes in the queue.
    """
    mark = Mark("slow", strike.stage, int(strike.lasts_s * 1000))
    workers = sum(one.stage == strike.stage for one in arena.supervisor.workers())
    config = arena.direct.config
    count = (workers * config.concurrency + QUEUED) * config.lanes
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(arena.load.ask(mark, hasty=True)) for _ in range(count)]
    asked = [task.result() for task in asking]
    await arena.book.all_answered(asked)
    return asked


HANDLERS = (
    Fault("slow", "handlers that take longer than the liveness TTL", 1.2, 2.5, _slow),
    Fault("busy", "a CPU-bound handler that holds up its worker's loop", 1.1, 1.4, _busy),
    Fault(
        "flaky", "handlers that fail at their first try, so that it is retried", 0.2, 0.2, _flaky
    ),
    Fault(
        "poison",
        "a query whose handler kills its process each time: it must fail, its neighbours must not",
        3.0,
        3.0,
        _poison,
    ),
    Fault(
        "wedge",
        "a query whose handler blocks its loop for ever: its worker ends each time, it fails at last",
        10.0,
        10.0,
        _wedge,
    ),
    Fault(
        "deadline",
        "deadlines that pass in a stage's queue, and others while its handlers run",
        2.3,
        2.8,
        _deadline,
    ),
)
