"""The server goes away and comes back: nothing lost, nothing doubled, nobody exits."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from bus_system import FAST, System, holds, leave, query, ready, soon, url_backend

from contracts import Unreachable
from groundwire import noop
from groundwire.embedded import TemporaryServer, temporary_server

pytest_plugins = ("bus_fixtures",)
pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def own_server() -> Iterator[TemporaryServer]:
    """A server that these tests may kill: every write is on disk before it is acknowledged."""
    with temporary_server(fsync="always") as running:
        yield running


@pytest.fixture
async def mortal(own_server: TemporaryServer) -> AsyncIterator[System]:
    """A system on it."""
    own_server.flush()
    async with System(url_backend(own_server.url), FAST) as opened:
        yield opened


async def slowly(message: Any) -> Any:
    """An `understand` that leaves time for what happens meanwhile."""
    await asyncio.sleep(0.01)
    return await noop.understand(message)


async def restart(server: TemporaryServer, away_s: float) -> None:
    """Kill -9, wait, start again on the same data."""
    await asyncio.to_thread(server.kill)
    await asyncio.sleep(away_s)
    await asyncio.to_thread(server.start)


async def test_a_server_killed_under_load_loses_and_doubles_nothing(
    mortal: System, own_server: TemporaryServer
) -> None:
    """Workers reconnect by themselves, and finish what was accepted."""
    async with mortal.running(handlers={"understand": slowly}) as workers:
        await mortal.bus.submit_many([query(str(number)) for number in range(200)])
        for _ in range(2):
            await soon(lambda: _progress(mortal))
            await restart(own_server, 0.3)
        found = await soon(lambda: _settled(mortal), 60)
        assert not any(running.task.done() for running in workers.values())
        assert found.outcomes["answered"] == 200
        await mortal.settled()


async def _progress(system: System) -> bool:
    return await system.backlog("queries") < 190


async def _settled(system: System) -> Any:
    try:
        found = await system.verification()
    except Unreachable:
        return None
    return found if not found.open else None


async def test_workers_started_before_their_server_wait_for_it(
    mortal: System, own_server: TemporaryServer
) -> None:
    """For ever, and without an error."""
    query_id = await mortal.bus.submit(query())
    await asyncio.to_thread(own_server.kill)
    running = [mortal.start(stage) for stage in noop.HANDLERS]
    await holds(lambda: all(worker.log.count("start.waiting") for worker in running))
    await asyncio.to_thread(own_server.start)
    for worker in running:
        await ready(worker)
    assert (await mortal.bus.result(query_id)).query_id == query_id
    await mortal.settled()
    await asyncio.gather(*(leave(worker) for worker in running))


async def test_a_wait_for_a_result_outlasts_a_restart(
    mortal: System, own_server: TemporaryServer
) -> None:
    """Begun before or during the outage; nobody who waits is told of it."""
    query_id = await mortal.bus.submit(query())
    async with System(mortal.backend) as other:
        before = asyncio.create_task(mortal.bus.result(query_id))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(own_server.kill)
        during = asyncio.create_task(other.bus.result(query_id))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(own_server.start)
        async with mortal.running():
            assert (await before).query_id == (await during).query_id == query_id
            await mortal.settled()


async def test_a_stop_while_the_server_is_away_ends_within_the_grace(
    mortal: System, own_server: TemporaryServer
) -> None:
    """Work in hand stays on the server, for whoever comes next."""
    go = asyncio.Event()

    async def held(message: Any) -> Any:
        await go.wait()
        return await noop.understand(message)

    running = mortal.start("understand", held, grace_s=1.0)
    await ready(running)
    await mortal.bus.submit_many([query(str(number)) for number in range(5)])
    await soon(lambda: _held(mortal, 5))
    await asyncio.to_thread(own_server.kill)
    go.set()
    assert await running.stop() < 6.0
    await asyncio.to_thread(own_server.start)
    async with mortal.running():
        found = await mortal.settled()
    assert found.outcomes["answered"] == 5


async def _held(system: System, count: int) -> bool:
    return await system.pending("understand") == count


async def test_a_frozen_server_makes_nobody_dead(
    mortal: System, own_server: TemporaryServer
) -> None:
    """Longer than the TTL: no claim, no delivery charged, and work resumes."""
    changes: dict[str, Any] = {"reply_timeout_s": 1.0}
    async with (
        mortal.running(handlers={"understand": slowly}, **changes) as workers,
        mortal.running(handlers={"understand": slowly}, **changes) as siblings,
    ):
        await mortal.bus.submit_many([query(str(number)) for number in range(100)])
        await asyncio.sleep(1.0)  # all are proven
        await mortal.bus.submit_many([query(str(number)) for number in range(100)])
        own_server.freeze()
        await asyncio.sleep(3 * FAST.alive_ttl_s)
        own_server.thaw()
        found = await soon(lambda: _settled(mortal), 60)
        await mortal.settled()
    assert found.outcomes["answered"] == 200
    for running in (*workers.values(), *siblings.values()):
        assert not running.log.count("delivery.claimed"), running.stage


async def test_a_frozen_server_makes_no_loop_look_wedged(
    mortal: System, own_server: TemporaryServer
) -> None:
    """A wait for its reply longer than the wedge limit: the loop turns all the time."""
    limit_s = 4 * FAST.beat_s
    ended: list[str] = []
    changes: dict[str, Any] = {"wedge_limit_s": limit_s, "reply_timeout_s": 5 * limit_s}
    async with mortal.running("understand", **changes) as workers:
        workers["understand"].worker._parts[0][0].on_wedged = lambda: ended.append("understand")
        own_server.freeze()
        await asyncio.sleep(3 * limit_s)
        own_server.thaw()
    assert not ended


async def test_a_submit_whose_reply_is_lost_is_one_query(
    mortal: System, own_server: TemporaryServer
) -> None:
    """The server freezes on it and is killed or answers later: repeated, the id is the same."""
    from dataclasses import replace

    async with System(mortal.backend, replace(FAST, reply_timeout_s=0.3)) as hasty:
        await hasty.bus.submit(query("warm"))
        own_server.freeze()
        submitting = asyncio.create_task(hasty.bus.submit(query("frozen")))
        await asyncio.sleep(0.5)
        own_server.thaw()
        query_id = await submitting
    found = await mortal.verification()
    assert (found.accepted, found.open, found.working) == (2, 2, 2)
    async with mortal.running():
        assert (await mortal.bus.result(query_id)).query_id == query_id
        await mortal.settled()
