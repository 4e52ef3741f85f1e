"""Shutdown: give back what hasn't started at no charge, finish what runs, leave nothing behind."""

import asyncio
import threading
from typing import Any

import pytest
from bus_system import NOOP, Running, System, holds, leave, query, ready, soon, url_backend
from desk import Desk

from groundwire import noop

pytest_plugins = ("bus_fixtures",)


class Slow:
    """An `understand` that waits until it may go on; counts its runs."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.ran: list[str] = []

    async def __call__(self, asked: Any) -> Any:
        """Wait, then do nothing well."""
        self.ran.append(asked.query_id)
        await self.go.wait()
        return await noop.understand(asked)


async def busy(system: System, handler: Slow, questions: int = 20, **changes: Any) -> Running:
    """A worker that runs four and has sixteen in hand that haven't started."""
    running = system.start("understand", handler, concurrency=4, **changes)
    await ready(running)
    running.worker._parts[0][1][0]._hand.pace(0.001)  # it was fast so far: its window is wide
    await system.bus.submit_many([query(str(number)) for number in range(questions)])
    await holds(lambda: len(handler.ran) == 4)
    await soon(lambda: _pending(system, questions))
    return running


async def _pending(system: System, count: int) -> bool:
    return await system.pending("understand") == count


@pytest.mark.server
async def test_unstarted_work_is_taken_over_at_once_and_at_no_charge(real: System) -> None:
    """20 in hand, 4 running, stop: 16 are a sibling's within a second, delivered once as before."""
    slow, quick = Slow(), Slow()
    quick.go.set()
    running = await busy(real, slow)
    sibling = real.start("understand", quick)
    await ready(sibling)
    await asyncio.sleep(1.0)  # the sibling's beats prove that the server hears beats
    running.worker.stop()
    await holds(lambda: len(quick.ran) == 16, 1.0)
    assert not running.task.done()
    slow.go.set()
    await leave(running)
    await leave(sibling)
    assert len(slow.ran) == 4
    assert set(slow.ran).isdisjoint(quick.ran)
    async with real.running("retrieve", "synthesize", "critic", "format"):
        found = await real.settled()
    assert found.outcomes["answered"] == 20


async def test_unstarted_work_without_a_sibling_is_not_taken_back(system: System) -> None:
    """What was given back stays so, with its deliveries as they were, until someone reads it."""
    slow = Slow()
    running = await busy(system, slow)
    running.worker.stop()
    await soon(lambda: _released(system, 16))
    await asyncio.sleep(5 * system.config.tick_s)
    deliveries = await system.deliveries("understand")
    slow.go.set()
    await leave(running)
    assert sum(owner == "released" for owner, _ in deliveries.values()) == 16
    assert sorted(count for owner, count in deliveries.values() if owner == "released") == [0] * 16
    async with system.running() as workers:
        found = await system.settled()
        assert workers["understand"].log.count("delivery.claimed") >= 1
    assert found.outcomes["answered"] == 20


async def _released(system: System, count: int) -> bool:
    deliveries = await system.deliveries("understand")
    return sum(owner == "released" for owner, _ in deliveries.values()) == count


async def test_suspects_that_wait_for_their_turn_are_given_back(system: System) -> None:
    """One of a dead worker's runs, the others have not started: at no charge, and without waiting for it."""
    slow = Slow()
    await Desk(system, consumer="ghost").open()
    await system.bus.submit_many([query(str(number)) for number in range(4)])
    await system.call(
        *("XREADGROUP", "GROUP", "understand", "ghost", "STREAMS", system.keys.of("queries"), ">")
    )
    running = system.start("understand", slow, concurrency=4)
    await holds(lambda: len(slow.ran) == 1)
    running.worker.stop()
    await soon(lambda: _released(system, 3))
    deliveries = await system.deliveries("understand")
    slow.go.set()
    await leave(running)
    assert len(slow.ran) == 1
    assert sorted(deliveries.values()) == [*[("released", 1)] * 3, (running.consumer, 2)]
    async with system.running():
        assert (await system.settled()).outcomes["answered"] == 4


async def test_a_stop_cuts_what_outlasts_the_grace(system: System) -> None:
    """The worker leaves; its work is claimed by the next one."""
    slow = Slow()
    running = await busy(system, slow, grace_s=0.3)
    assert await running.stop() < 5.0
    assert running.log.count("drain.cut") == 1
    async with system.running():
        found = await system.settled()
    assert found.outcomes["answered"] == 20


async def test_an_idle_worker_stops_at_once_and_leaves_nothing(system: System) -> None:
    """No consumer, no liveness key, no task, no thread."""
    before = asyncio.all_tasks()
    running = system.start("understand")
    await ready(running)
    assert await running.stop() < 2.0
    assert await system.call("XINFO", "CONSUMERS", system.keys.of("queries"), "understand") == []
    assert await system.call("KEYS", "*alive*") == []
    assert asyncio.all_tasks() == before
    assert not [thread for thread in threading.enumerate() if thread.name == "beat"]


async def test_a_worker_that_waits_for_its_server_can_be_stopped() -> None:
    """Nobody listens there yet; SIGTERM is heard all the same."""
    system = System(url_backend("redis://127.0.0.1:1"))
    running = system.start("understand")
    await holds(lambda: running.log.count("start.waiting") > 1)
    assert await running.stop() < 3.0


@pytest.mark.server
async def test_a_blocked_read_ends_with_the_stop(real: System) -> None:
    """CLIENT UNBLOCK: a stop doesn't wait for BLOCK to pass."""
    running = real.start("understand", block_s=10.0)
    await ready(running)
    await soon(lambda: _blocked(real))
    assert await running.stop() < 1.5


async def _blocked(system: System) -> bool:
    return b"cmd=xreadgroup" in await system.call("CLIENT", "LIST")


@pytest.mark.server
async def test_a_worker_gives_back_all_its_connections(real: System) -> None:
    """Drained or cancelled: as many clients as before."""
    before = len((await real.call("CLIENT", "LIST")).splitlines())
    for _ in range(5):
        await (await _started(real)).stop()
        await (await _started(real)).vanish()

    async def as_before() -> bool:
        return len((await real.call("CLIENT", "LIST")).splitlines()) <= before

    await soon(as_before)


async def _started(system: System) -> Running:
    running = system.start("understand")
    await ready(running)
    return running


async def test_stopping_twice_and_before_it_is_ready_is_no_error(system: System) -> None:
    """A signal may come at any time."""
    running = system.start("understand")
    running.worker.stop()
    running.worker.stop()
    async with asyncio.timeout(5):
        await running.task
    assert await system.call("KEYS", "*alive*") == []


async def test_a_stop_under_load_loses_and_doubles_nothing(system: System) -> None:
    """Workers of one stage come and go while two hundred queries pass."""
    async with system.running():
        ids = await system.bus.submit_many([query(str(number)) for number in range(200)])
        for _ in range(2):
            for stage in NOOP:
                await leave(await _ready(system.start(stage)))
        found = await system.settled()
    assert found.outcomes["answered"] == len(ids) == 200


async def _ready(running: Running) -> Running:
    await ready(running)
    return running


async def test_twenty_restarts_leave_no_consumers_behind(system: System) -> None:
    """Each leaves its group when it goes."""
    for _ in range(10):
        first, second = system.start("understand"), system.start("format")
        await asyncio.gather(ready(first), ready(second))
        await asyncio.gather(leave(first), leave(second))
    assert await system.call("XINFO", "CONSUMERS", system.keys.of("queries"), "understand") == []
    assert await system.call("XINFO", "CONSUMERS", system.keys.of("verdicts"), "format") == []
