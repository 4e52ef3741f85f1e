"""Faults of handlers: slow, CPU-bound, failing at first, and one that ends its process."""

import asyncio

from .agents import Kind, Mark
from .arena import Arena
from .plan import Fault, Strike

_MARKED = 6
_ENDS_S = 30.0


async def _misbehave(arena: Arena, strike: Strike, kind: Kind, count: int) -> None:
    """Ask marked queries and return when all have their results; the account says so if one never has."""
    mark = Mark(kind, strike.stage, int(strike.lasts_s * 1000))
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(arena.load.ask(mark)) for _ in range(count)]
    try:
        async with asyncio.timeout(_ENDS_S):
            for task in asking:
                await task.result().answered.wait()
    except TimeoutError:
        return


async def _slow(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "slow", _MARKED)


async def _busy(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "busy", 2)


async def _flaky(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "flaky", _MARKED)


async def _poison(arena: Arena, strike: Strike) -> None:
    await _misbehave(arena, strike, "poison", 1)


HANDLERS = (
    Fault("slow", "handlers that take longer than the liveness TTL", 1.2, 2.5, _slow),
    Fault("busy", "CPU-bound handlers that hold up their worker's loop", 1.2, 2.0, _busy),
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
)
