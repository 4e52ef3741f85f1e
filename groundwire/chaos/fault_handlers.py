"""Faults of handlers: slow, too slow, CPU-bound, wedged, failing at first, and one that ends its process."""

import asyncio

from .agents import Kind, Mark
from .arena import Arena
from .book import Asked
from .plan import Fault, Strike

_MARKED = 6
_HASTY = 20


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
    """Ask what most likely ends by its deadline, queued; returns when all have results."""
    mark = Mark("slow", strike.stage, int(strike.lasts_s * 1000))
    marks = [mark] * _MARKED + [None] * _HASTY
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(arena.load.ask(one, hasty=True)) for one in marks]
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
    Fault("deadline", "deadlines that pass before a handler runs", 0.5, 1.0, _deadline),
)
