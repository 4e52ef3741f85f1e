"""Work past its deadline that nobody runs: ended by its stage's tick, wherever it lies, and nothing else is touched."""

import asyncio
import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bus_system import NOOP, System, leave, query, ready, soon
from desk import Desk

from bus.wire import text
from contracts.envelope import encode, first_envelope

pytest_plugins = ("bus_fixtures",)

NO_READING = 0
"""As `backlog_mark`: the next stage counts as behind, so a worker that ticks and does not read."""

FUTURE = 1 << 42


async def has_failed(system: System, count: int = 1) -> None:
    """So many queries have ended as failed."""

    async def failed() -> bool:
        return await system.counter("failed") == count

    await soon(failed, why="failed")


async def set_deadline(system: System, query_id: str, deadline_ms: int = 1) -> None:
    """Move the query's deadline, into the past by default, as the clock would."""
    await system.call("ZADD", system.keys.open, deadline_ms, query_id)


async def park(system: System, deadline_s: float = -1.0) -> str:
    """An accepted query whose message only newer workers read, parked; returns its query_id."""
    desk = Desk(system, "retrieve")
    query_id = await desk.put(deadline_s)
    stream = system.keys.of("intents")
    [(entry_id, flat)] = await system.call("XREVRANGE", stream, "+", "-", "COUNT", 1)
    newer = flat[1].replace(b"groundwire.intent.v1", b"groundwire.intent.v2")
    await system.call("XDEL", stream, text(entry_id))
    await system.call("SADD", system.keys.parked, "intents:v2")
    await system.add("intents:v2", "event", newer, "attempt", 1)
    return query_id


async def test_what_is_queued_behind_a_busy_stage_is_ended(system: System) -> None:
    """Nobody reads it, and its asker is told all the same; what has time left stays."""
    ran: list[Any] = []
    desk = await Desk(system).open()
    late = [await desk.put(-1.0) for _ in range(3)]
    in_time = await desk.put(60.0)
    late.append(await desk.put(-1.0))
    async with system.running(
        "understand", handlers={"understand": _noting(ran)}, backlog_mark=NO_READING
    ):
        await has_failed(system, 4)
        assert {record.query_id for record in await system.dead()} == set(late)
        assert {record.reason for record in await system.dead()} == {"deadline"}
        found = await system.verification()
        assert (found.open, found.working, found.holds) == (1, 1, True)
    assert ran == []
    async with system.running():
        assert (await system.bus.result(in_time)).status == "approved_fallback"
        await system.settled()


def _noting(ran: list[Any]) -> Any:
    async def understand(asked: Any) -> Any:
        ran.append(asked)
        return await NOOP["understand"](asked)

    return understand


async def test_all_of_a_long_queue_is_looked_at(system: System) -> None:
    """In bounded steps, those behind many that have time left too."""
    desk = await Desk(system).open()
    for _ in range(120):
        await desk.put(60.0)
    late = await desk.put(-1.0)
    async with system.running("understand", backlog_mark=NO_READING):
        await has_failed(system)
    assert [record.query_id for record in await system.dead()] == [late]
    assert await system.backlog("queries") == 120


async def test_what_a_stranger_acknowledged_is_ended(system: System) -> None:
    """No read delivers it again, and its asker is told all the same."""
    desk = await Desk(system, consumer="stranger").open()
    late = await desk.put(-1.0)
    in_time = await desk.put(60.0)
    for delivery in await desk.read():
        await system.call("XACK", desk.stream, "understand", delivery.id)
    async with system.running("understand"):
        await has_failed(system)
        assert [record.query_id for record in await system.dead()] == [late]
        found = await system.verification()
        assert (found.open, found.working, found.holds) == (1, 1, True)
        await set_deadline(system, in_time)
        await has_failed(system, 2)
        await system.settled()


async def test_what_was_read_ahead_is_ended_while_all_runners_are_busy(system: System) -> None:
    """The running one is left alone: its outcome counts, though late."""
    go, started = asyncio.Event(), asyncio.Event()
    numbers = itertools.count()

    async def understand(asked: Any) -> Any:
        if next(numbers) > 20:  # the pace of those before lets the worker read ahead
            started.set()
            await go.wait()
        return await NOOP["understand"](asked)

    async with system.running(handlers={"understand": understand}, concurrency=1):
        for _ in range(21):
            await system.ask()
        ids = await system.bus.submit_many([query(str(number)) for number in range(4)])
        await started.wait()

        async def read_ahead() -> bool:
            return await system.pending("understand") == 4

        await soon(read_ahead)
        for query_id in ids:
            await set_deadline(system, query_id)
        await has_failed(system, 3)
        await set_deadline(system, ids[0], FUTURE)  # else a later stage's tick may end it
        go.set()
        found = await system.settled()
        assert (await system.bus.result(ids[0])).status == "approved_fallback"
    assert found.outcomes == {"answered": 22, "out_of_scope": 0, "rejected": 0, "failed": 3}


async def test_what_a_sibling_handles_is_left_to_it(system: System) -> None:
    """An outcome in hand is settled even if late."""
    go, started = asyncio.Event(), asyncio.Event()

    async def understand(asked: Any) -> Any:
        started.set()
        await go.wait()
        return await NOOP["understand"](asked)

    busy = system.start("understand", understand, concurrency=1)
    await ready(busy)
    query_id = await system.bus.submit(query())
    await started.wait()
    await set_deadline(system, query_id)
    idle = system.start("understand", backlog_mark=NO_READING)
    await ready(idle)
    desk = Desk(system)
    await desk.put(-1.0)
    await has_failed(system)  # so one of them has looked
    assert busy.log.count("delivery.overdue") + idle.log.count("delivery.overdue") == 1
    go.set()

    async def emitted() -> bool:
        return await system.backlog("intents") == 1

    await soon(emitted)
    await set_deadline(system, query_id, FUTURE)  # else the next stage's tick ends it
    async with system.running("retrieve", "synthesize", "critic", "format"):
        assert (await system.bus.result(query_id)).status == "approved_fallback"
        await system.settled()
    await asyncio.gather(leave(busy), leave(idle))


async def test_what_is_parked_is_ended_by_old_workers(system: System) -> None:
    """No worker that could read it ever lived; what has time left stays parked."""
    late, in_time = await park(system), await park(system, 60.0)
    async with system.running("retrieve"):
        await has_failed(system)
        found = await system.verification()
        assert found.holds
        assert (found.open, found.parked) == (1, 1)
    [record] = await system.dead()
    assert (record.query_id, record.reason, record.stage) == (late, "deadline", "retrieve")
    assert await system.call("ZSCORE", system.keys.open, in_time) is not None


async def test_what_is_delayed_beside_a_parked_stream_is_ended(system: System) -> None:
    """A newer worker tried it once and is gone."""
    query_id = await park(system)
    stream = system.keys.of("intents:v2")
    [(entry_id, flat)] = await system.call("XRANGE", stream, "-", "+")
    await system.call("XDEL", stream, text(entry_id))
    delayed, body = system.keys.delayed("intents:v2"), system.keys.delayed_body("intents:v2")
    await system.call("HSET", body, "1-0", b"2 " + flat[1])
    await system.call("ZADD", delayed, 1, "1-0")
    async with system.running("retrieve"):
        await has_failed(system)
        assert (await system.verification()).holds
    [record] = await system.dead()
    assert (record.query_id, record.reason, record.attempts) == (query_id, "deadline", 2)


@pytest.mark.parametrize("lease_s", [60.0, 0.05])
async def test_a_parked_entry_in_a_newer_worker_s_hands_is_left_until_its_lease_is_over(
    system: System, lease_s: float
) -> None:
    """The living renew theirs; whoever doesn't is no reason to wait."""
    await park(system)
    stream = system.keys.of("intents:v2")
    await system.call("XGROUP", "CREATE", stream, "retrieve", "0")
    await system.call("XREADGROUP", "GROUP", "retrieve", "newer", "STREAMS", stream, ">")
    desk = Desk(system, "retrieve")
    async with system.running("retrieve", lease_s=lease_s):
        if lease_s < 1:
            await has_failed(system)
        else:
            await desk.put(-1.0)
            await has_failed(system)  # another one: so it has been looked at
            assert await system.backlog("intents:v2") == 1
        assert (await system.verification()).holds


async def test_an_overdue_blob_is_a_dead_letter_with_its_bytes(system: System) -> None:
    """A large message like any other, and it can be replayed."""
    async with System(system.backend, replace(system.config, blob_bytes=16)) as tiny:
        query_id = await tiny.bus.submit(query("large question"))
        await set_deadline(tiny, query_id)
        async with tiny.running("understand", backlog_mark=NO_READING):
            await has_failed(tiny)
        [entry] = await tiny.bus.dead.list()
        assert entry.record.reason == "deadline"
        assert b"large question" in (await tiny.bus.dead.raw(entry.id) or b"")
        await tiny.bus.dead.replay(entry.id)
        async with tiny.running():
            found = await tiny.settled()
        assert found.outcomes["answered"] == 1
        assert await tiny.call("KEYS", "*:blob:*") == []


async def test_an_overdue_undecodable_entry_is_still_undecodable(system: System) -> None:
    """Its reason stays the honest one."""
    desk = await Desk(system).open()
    query_id = await desk.put(-1.0)
    [(entry_id, _)] = await system.call("XRANGE", desk.stream, "-", "+")
    await system.call("XDEL", desk.stream, text(entry_id))
    now = datetime.now(UTC)
    wrong = first_envelope(
        query(), source="t", subject=query_id, time=now, deadline=now - timedelta(1)
    )
    await system.add("queries", "event", encode(wrong).replace(b'"text"', b'"test"'))
    async with system.running("understand", backlog_mark=NO_READING):
        await has_failed(system)
    assert [record.reason for record in await system.dead()] == ["invalid"]


async def test_nothing_is_looked_for_while_nothing_is_overdue(system: System) -> None:
    """The tick asks one question of the open set, and no more."""
    desk = await Desk(system).open()
    await desk.put(60.0)
    names = [desk.stream, system.keys.delayed("queries"), system.keys.delayed_body("queries")]
    names.append(system.keys.open)
    assert (await system.script("tick", names, ["understand", "me", 10]))[5] == 0
    await desk.put(-1.0)
    assert (await system.script("tick", names, ["understand", "me", 10]))[5] == 1
