"""A message that ends its process each time: what its crashes cost those that were in hand with it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from bus_system import NOOP, Running, System, holds, leave, query, ready

from contracts import Query, Value

pytest_plugins = ("bus_fixtures",)
pytestmark = pytest.mark.server

POISON = "poison"


class Crashing:
    """An `understand` whose worker ends in the middle of a poison; `neighbours` are what else it ran."""

    def __init__(self) -> None:
        self.crashed = asyncio.Event()

    async def __call__(self, asked: Query) -> Value:
        if asked.text != POISON:
            await asyncio.sleep(0.01)
            return await NOOP["understand"](asked)
        self.crashed.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")


async def crash_again_and_again(system: System, times: int) -> None:
    """A worker of the first stage, and after each of its crashes the next one."""
    for _ in range(times):
        handler = Crashing()
        running = await _started(system, handler)
        async with asyncio.timeout(10):
            await handler.crashed.wait()
        await running.vanish()


async def _started(
    system: System, handler: Callable[[Query], Awaitable[Value]], concurrency: int = 20
) -> Running:
    running = system.start("understand", handler, alive_ttl_s=0.2, concurrency=concurrency)
    await ready(running)
    return running


async def test_of_sixteen_queries_the_one_that_kills_its_process_alone_is_dead(
    real: System,
) -> None:
    """Read together, claimed together, crashed together: the crash is charged to what ran."""
    texts = [POISON, *(f"innocent {number}" for number in range(15))]
    await real.bus.submit_many([query(text) for text in texts])
    await crash_again_and_again(real, 5)
    last = await _started(real, Crashing())
    async with real.running("retrieve", "synthesize", "critic", "format"):
        found = await real.settled()
    await leave(last)
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (15, 1)
    [record] = await real.dead()
    assert (record.reason, record.deliveries) == ("deliveries", 6)


async def test_a_claim_alone_costs_no_attempt(real: System) -> None:
    """What a dead worker had in hand is delivered again, and charged when it starts."""
    ids = await real.bus.submit_many([query(POISON), query("innocent")])
    await crash_again_and_again(real, 2)
    counts = sorted(count for _, count in (await real.deliveries("understand")).values())
    assert counts == [1, 2], ids


async def test_what_a_worker_gives_back_unstarted_costs_no_attempt_though_claimed(
    real: System,
) -> None:
    """A claim and an orderly end leave the count as it was."""
    await real.bus.submit_many([query(POISON), query("innocent")])
    await crash_again_and_again(real, 1)
    handler = Crashing()
    running = await _started(real, handler, concurrency=1)
    async with asyncio.timeout(10):
        await handler.crashed.wait()
    await holds(lambda: running.log.count("work.claimed") > 0)
    running.worker.stop()
    await holds(lambda: running.log.count("work.released") > 0)
    counts = dict((await real.deliveries("understand")).values())
    assert counts == {running.consumer: 2, "released": 1}
    await running.vanish()
