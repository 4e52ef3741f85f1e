"""What the server refuses: nothing acknowledged, nothing lost, nothing doubled once it is lifted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bus_system import System, soon
from desk import Desk

from bus import Backend
from contracts import Query, Transient, Value

pytest_plugins = ("bus_fixtures",)


@pytest.mark.parametrize("key", ["intents", "open", "counters"])
async def test_a_key_of_the_wrong_type_refuses_an_emit_before_any_write(
    system: System, key: str
) -> None:
    """The entry stays pending, and settles once the key is right again."""
    desk = await Desk(system).open()
    [delivery] = await desk.deliver()
    name, kept = system.keys.of(key), system.keys.of("kept")
    if await system.call("EXISTS", name):
        await system.call("RENAME", name, kept)
    await system.call("SET", name, "wrong")
    settlement = await desk.emit(delivery)
    for _ in range(2):
        [status] = await desk.settle(settlement)
        assert status.startswith(f"REFUSED WRONGTYPE {name}")
    assert await system.pending("understand") == 1
    assert await system.call("EXISTS", system.keys.events) == 0
    await system.call("DEL", name)
    if await system.call("EXISTS", kept):
        await system.call("RENAME", kept, name)
    assert await desk.settle(settlement) == ["OK"]
    assert await system.backlog("intents") == 1
    assert (await system.verification()).holds


@pytest.mark.parametrize("key", ["results.answered", "replaying"])
async def test_a_key_of_the_wrong_type_refuses_a_result(system: System, key: str) -> None:
    """No result, no count: the query stays open."""
    desk = await Desk(system, "format").open()
    [delivery] = await desk.deliver()
    await system.call("SET", system.keys.of(key), "wrong")
    settlement = await desk.emit(delivery)
    [status] = await desk.settle(settlement)
    assert status.startswith("REFUSED WRONGTYPE")
    assert (await system.verification()).open == 1
    await system.call("DEL", system.keys.of(key))
    assert await desk.settle(settlement) == ["OK"]
    await system.settled()


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("retry", "queries:delayed"),
        ("retry", "queries:delayed:body"),
        ("bury", "dead"),
        ("bury", "results.failed"),
        ("park", "queries:v2"),
        ("park", "parked"),
    ],
)
async def test_a_key_of_the_wrong_type_refuses_what_would_write_it(
    system: System, kind: str, key: str
) -> None:
    """Retry, dead letter and park alike: the entry stays pending and untouched."""
    desk = await Desk(system).open()
    [delivery] = await desk.deliver()
    settlement = {
        "retry": desk.retry(delivery),
        "bury": desk.bury(delivery),
        "park": desk.park(delivery),
    }[kind]
    await system.call("SET", system.keys.of(key), "wrong")
    [status] = await desk.settle(settlement)
    assert status.startswith("REFUSED WRONGTYPE")
    assert await system.deliveries("understand") == {delivery.id: ("me", 1)}
    await system.call("DEL", system.keys.of(key))
    assert await desk.settle(settlement) == ["OK"]
    assert (await system.verification()).holds


async def test_events_of_the_wrong_type_are_counted_and_stop_nothing(system: System) -> None:
    """An observer's stream is no reason to hold up a query."""
    desk = await Desk(system).open()
    deliveries = await desk.deliver(3)
    await system.call("SET", system.keys.events, "wrong")
    settlements = [await desk.emit(delivery) for delivery in deliveries]
    assert await desk.settle(*settlements) == ["OK"] * 3
    assert await system.counter("events_lost") == 3
    assert await system.backlog("intents") == 3
    assert (await system.verification()).holds


async def test_a_result_key_of_the_wrong_type_is_overwritten(system: System) -> None:
    """It is the query's own key: nobody else has a say in it."""
    desk = await Desk(system, "format").open()
    [delivery] = await desk.deliver()
    assert delivery.head is not None
    query_id = delivery.head.subject
    await system.call("LPUSH", system.keys.result(query_id), "wrong")
    assert await desk.settle(await desk.emit(delivery)) == ["OK"]
    assert (await system.bus.result(query_id)).query_id == query_id
    await system.settled()


@asynccontextmanager
async def out_of_memory(system: System) -> AsyncIterator[None]:
    """A server whose limit lies below what it holds."""
    await system.call("CONFIG", "SET", "maxmemory", 1)
    try:
        yield
    finally:
        await system.call("CONFIG", "SET", "maxmemory", 0)


@pytest.mark.server
@pytest.mark.parametrize("kind", ["emit", "retry", "bury", "park"])
async def test_a_full_server_refuses_the_first_write_and_nothing_is_half_done(
    real: System, kind: str
) -> None:
    """Out of memory: nothing acknowledged. Later the same call is accepted: exactly one output."""
    desk = await Desk(real).open()
    [delivery] = await desk.deliver()
    settlement = {
        "emit": await desk.emit(delivery),
        "retry": desk.retry(delivery),
        "bury": desk.bury(delivery),
        "park": desk.park(delivery),
    }[kind]
    async with out_of_memory(real):
        [status] = await desk.settle(settlement)
        assert status.startswith("REFUSED")
        assert "OOM" in status
        assert await real.deliveries("understand") == {delivery.id: ("me", 1)}
        assert (await real.verification()).working == 1
    assert await desk.settle(settlement) == ["OK"]
    assert await desk.settle(settlement) == ["GONE"]
    assert (await real.verification()).holds


@pytest.mark.server
async def test_a_full_server_refuses_a_result_and_the_query_stays_open(real: System) -> None:
    """One result in the end."""
    desk = await Desk(real, "format").open()
    [delivery] = await desk.deliver()
    settlement = await desk.emit(delivery)
    async with out_of_memory(real):
        [status] = await desk.settle(settlement)
        assert "OOM" in status
    assert await desk.settle(settlement) == ["OK"]
    found = await real.settled()
    assert found.outcomes["answered"] == 1


@pytest.mark.server
async def test_a_full_server_refuses_a_submit_whole(real: System) -> None:
    """A Transient error to the caller, and no trace of the query."""
    async with out_of_memory(real):
        with pytest.raises(Transient, match="refused"):
            await real.ask("why?", timeout_s=1)
    found = await real.verification()
    assert (found.accepted, found.open, found.working) == (0, 0, 0)


@pytest.mark.server
async def test_a_server_full_for_a_while_loses_and_doubles_nothing(real: System) -> None:
    """Workers wait, nobody is declared dead, all are answered once."""
    from bus_system import NOOP, query

    full = asyncio.Event()

    async def understand(message: Query) -> Value:
        await full.wait()  # else a fast machine is done before the server is full
        return await NOOP["understand"](message)

    async with real.running(handlers={"understand": understand}) as workers:
        await real.bus.submit_many([query(str(number)) for number in range(100)])
        async with out_of_memory(real):
            full.set()
            await soon(lambda: _said(workers["understand"].log.count("settle.refused")))
        found = await real.settled()
        assert found.outcomes["answered"] == 100
        assert all(not running.log.count("delivery.claimed") for running in workers.values())


async def _said(times: int) -> bool:
    return times > 0


async def test_a_forgotten_script_changes_nothing(system: System) -> None:
    """SCRIPT FLUSH between two calls."""
    desk = await Desk(system).open()
    first, second = await desk.deliver(2)
    assert await desk.settle(await desk.emit(first)) == ["OK"]
    await system.call("SCRIPT", "FLUSH")
    assert await desk.settle(await desk.emit(first), await desk.emit(second)) == ["GONE", "OK"]
    assert await system.backlog("intents") == 2


async def test_scripts_forgotten_under_load_change_nothing(system: System) -> None:
    """A hundred queries with the scripts flushed again and again."""
    from bus_system import query

    async with system.running():
        await system.bus.submit_many([query(str(number)) for number in range(100)])
        for _ in range(10):
            await system.call("SCRIPT", "FLUSH")
        found = await system.settled()
    assert found.outcomes["answered"] == 100


def test_the_backend_protocol_has_four_members() -> None:
    """What a test double has to offer, and no more."""
    offered = {name for name in vars(Backend) if not name.startswith("_")}
    assert offered == {"connect", "forget", "is_replicated", "sync_client"}
