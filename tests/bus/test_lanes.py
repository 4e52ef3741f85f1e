import gc
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from bus_system import FAST, STAGES, System, leave, query, ready, soon

from bus import Backend, Bus
from bus.keys import LANES, Keys
from contracts import Misconfigured
from contracts.ids import lane_of_query

pytest_plugins = ("bus_fixtures",)
TWO = replace(FAST, lanes=2)


@pytest.fixture
async def two(backend: Backend) -> AsyncIterator[System]:
    """A system of two lanes."""
    async with System(backend, TWO) as opened:
        yield opened


async def test_two_lanes_answer_everything_once(two: System) -> None:
    """Both are used, and the conservation law holds in each."""
    async with two.running():
        ids = await two.bus.submit_many([query(str(n), session=f"s{n}") for n in range(40)])
        for query_id in ids:
            assert (await two.bus.result(query_id)).query_id == query_id
        found = await two.bus.verify()
    assert {lane_of_query(query_id) for query_id in ids} == {0, 1}
    assert all(lane.holds and lane.open == 0 for lane in found)
    assert sum(lane.outcomes["answered"] for lane in found) == 40
    assert min(lane.accepted for lane in found) > 0


async def test_a_session_stays_in_its_lane(two: System) -> None:
    """Placement by the session, or by the idempotency key where one is given."""
    ids = [await two.bus.submit(query(str(n), session="same")) for n in range(10)]
    assert len({lane_of_query(query_id) for query_id in ids}) == 1
    ids = [await two.bus.submit(query("x", session=f"s{n}"), idempotency_key="k") for n in [1, 1]]
    assert ids[0] == ids[1]


async def test_a_key_is_the_same_key_for_a_query_that_was_named_before(two: System) -> None:
    """Keys lie in lanes: who mints the id before the submit says under which key it will be."""
    for number in range(8):
        asked, key = query("same", f"session {number}"), f"key {number}"
        query_id = await two.bus.submit(asked, idempotency_key=key)
        named = two.bus.named(asked, idempotency_key=key)
        assert await two.bus.submit(named, idempotency_key=key) == query_id


async def test_results_are_followed_over_all_lanes(two: System) -> None:
    """One iterator, one cursor."""
    async with two.running():
        ids = await two.bus.submit_many([query(str(n), session=f"s{n}") for n in range(20)])
        seen = []
        async for result in two.bus.results(after="0"):
            seen.append(result.response.query_id)
            if len(seen) == 20:
                break
    assert sorted(seen) == sorted(ids)


async def test_a_client_set_to_another_number_of_lanes_refuses_to_start(two: System) -> None:
    """It says what the server has and what to set; its connection is closed."""
    with pytest.raises(Misconfigured, match=r"2 lanes.*1.*GROUNDWIRE_LANES=2"):
        async with Bus(two.backend, FAST):
            raise AssertionError("it started")
    gc.collect()  # an open connection would warn here, and a warning is an error
    assert int(await two.call("GET", LANES)) == 2


async def test_a_worker_set_to_another_number_of_lanes_refuses_to_start(two: System) -> None:
    """Before it reads, and without a trace in the group."""
    running = two.start("understand", lanes=1)
    with pytest.raises(Misconfigured):
        await ready(running)
    gc.collect()
    assert await two.call("EXISTS", Keys(0).of("queries")) == 0
    assert await two.call("KEYS", "*alive*") == []


async def test_a_worker_leaves_every_lane(two: System) -> None:
    """No consumer and no liveness key stays in either."""
    async with two.running():
        await soon(lambda: _alive(two, 2 * len(STAGES)))
    assert await two.call("KEYS", "*alive*") == []
    for lane in (0, 1):
        for name, stage in (("queries", "understand"), ("verdicts", "format")):
            assert await two.call("XINFO", "CONSUMERS", Keys(lane).of(name), stage) == []


async def _alive(system: System, count: int) -> bool:
    return len(await system.call("KEYS", "*alive*")) == count


async def test_dead_letters_of_all_lanes_are_listed_and_replayed(two: System) -> None:
    """Their ids begin with the lane."""
    for lane in (0, 1):
        await two.call("XADD", Keys(lane).of("intents"), "*", "junk", "x")
    async with two.running("retrieve"):
        await soon(lambda: _dead(two, 2))
    entries = await two.bus.dead.list()
    assert sorted(entry.id[:2] for entry in entries) == ["0/", "1/"]
    for entry in entries:
        await two.bus.dead.discard(entry.id)
    assert await two.bus.dead.list() == []
    assert all(lane.holds for lane in await two.bus.verify())


async def _dead(system: System, count: int) -> bool:
    return len(await system.bus.dead.list()) == count


async def test_a_lane_may_be_drained_while_the_other_is_busy(two: System) -> None:
    """Stopping waits for what runs, in whichever lane it runs."""
    import asyncio

    from contracts import Intent, Query
    from groundwire import noop

    started, go = asyncio.Event(), asyncio.Event()

    async def understand(asked: Query) -> Intent:
        started.set()
        await go.wait()
        return await noop.understand(asked)

    running = two.start("understand", understand)
    await ready(running)
    query_id = await two.bus.submit(query())
    await started.wait()
    running.worker.stop()
    await asyncio.sleep(0.1)
    assert not running.task.done()
    go.set()
    await leave(running)
    async with two.running(*STAGES[1:]):
        assert (await two.bus.result(query_id)).query_id == query_id
