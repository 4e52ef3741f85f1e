"""A message that ends its process each time: what its crashes cost those that were in hand with it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from bus_system import FAST, NOOP, Running, System, leave, query, ready, url_backend

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


async def claim(system: System, me: str, dead: str) -> list[int]:
    """The scripts' view of a claim: which delivery each of the dead consumer's entries counts as."""
    keys = [system.keys.of("queries"), system.keys.alive("understand", dead)]
    claimed = await system.script("claim", keys, ["understand", me, 10, 0, 10_000, dead])
    return [int(count) for count in claimed[1::3]]


async def give_back(system: System, me: str, delivery: int) -> None:
    """Release the only entry, unstarted."""
    [entry_id] = await system.deliveries("understand")
    args: list[str | bytes | int] = ["understand", me, "released", entry_id, delivery]
    assert await system.script("release", [system.keys.of("queries")], args) == 1


@pytest.mark.parametrize(("started", "next_one"), [(False, 1), (True, 2)])
async def test_what_is_given_back_unstarted_counts_as_it_did_before(
    real: System, started: bool, next_one: int
) -> None:
    """However often it is claimed and given back; only a start is charged."""
    stream = real.keys.of("queries")
    await real.call("XGROUP", "CREATE", stream, "understand", "0", "MKSTREAM")
    await real.bus.submit(query())
    await real.call("XREADGROUP", "GROUP", "understand", "a", "STREAMS", stream, ">")
    if not started:
        await give_back(real, "a", 1)
    owner = "a" if started else "released"
    for _ in range(3):
        assert await claim(real, "b", owner) == [next_one]
        await give_back(real, "b", next_one)
        owner = "released"
    assert await claim(real, "b", owner) == [next_one]


async def test_a_start_is_charged_to_its_owner_alone(real: System) -> None:
    """Whoever lost the delivery meanwhile does not start it."""
    stream = real.keys.of("queries")
    await real.call("XGROUP", "CREATE", stream, "understand", "0", "MKSTREAM")
    await real.bus.submit(query())
    await real.call("XREADGROUP", "GROUP", "understand", "a", "STREAMS", stream, ">")
    await claim(real, "b", "a")
    [entry_id] = await real.deliveries("understand")
    assert await real.script("charge", [stream], ["understand", "a", entry_id, 2]) == 0
    assert await real.deliveries("understand") == {entry_id: ("b", 1)}
    assert await real.script("charge", [stream], ["understand", "b", entry_id, 2]) == 1
    assert await real.deliveries("understand") == {entry_id: ("b", 2)}
    await real.call("XGROUP", "DESTROY", stream, "understand")
    assert await real.script("charge", [stream], ["understand", "b", entry_id, 3]) == 0


async def test_a_poison_in_one_lane_makes_no_innocent_of_another_dead(server_url: str) -> None:
    """A worker's lanes share its fate, so a suspect runs alone in all of them."""
    config = replace(FAST, lanes=2, alive_ttl_s=0.2)
    async with System(url_backend(server_url), config) as two:
        asked = [two.bus.named(query("innocent", session=f"s{n}")) for n in range(40)]
        innocent = [one for one in asked if one.query_id.startswith("1-")][:6]
        session = next(one.session_id for one in asked if one.query_id.startswith("0-"))
        await two.bus.submit_many([query(POISON, session=session), *innocent])
        await crash_again_and_again(two, 5)
        last = await _started(two, Crashing())
        async with two.running("retrieve", "synthesize", "critic", "format"):
            for one in innocent:
                assert (await two.bus.result(one.query_id)).status != "failed"
            found = await two.settled()
        await leave(last)
    assert found.outcomes["failed"] == 1
