"""The server refuses, freezes or dies in the middle of the work, and comes back: nothing lost, nothing doubled."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from bus_system import soon
from soak_fleet import Fleet, marked, open_fleet
from soak_times import Times, both_lengths

from contracts import Query

pytestmark = pytest.mark.server

Refusing = Callable[[Fleet, Sequence[str]], AbstractAsyncContextManager[None]]

_PUT_ASIDE = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], 'wrong')
"""
_PUT_BACK = """
redis.call('DEL', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end
"""


@asynccontextmanager
async def out_of_memory(fleet: Fleet, ids: Sequence[str]) -> AsyncIterator[None]:
    """A limit far below what is in use."""
    await fleet.system.call("CONFIG", "SET", "maxmemory", 1)
    yield
    await fleet.system.call("CONFIG", "SET", "maxmemory", 0)


def wrong_type(name: str) -> Refusing:
    """The key is a string for a while, and then again what it was."""

    @asynccontextmanager
    async def wrong(fleet: Fleet, ids: Sequence[str]) -> AsyncIterator[None]:
        keys = (fleet.system.keys.of(name), fleet.system.keys.of("aside"))
        await fleet.system.call("EVAL", _PUT_ASIDE, 2, *keys)
        yield
        await fleet.system.call("EVAL", _PUT_BACK, 2, *keys)

    return wrong


@asynccontextmanager
async def result_keys_of_the_wrong_type(fleet: Fleet, ids: Sequence[str]) -> AsyncIterator[None]:
    """A list lies under the result key of every query that has none yet; nobody takes it away."""
    for query_id in ids:
        key = fleet.system.keys.result(query_id)
        script = "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('RPUSH', KEYS[1], 'x') end"
        await fleet.system.call("EVAL", script, 1, key)
    yield


REFUSING: dict[str, Refusing] = {
    "out of memory": out_of_memory,
    "a destination": wrong_type("drafts"),
    "the results": wrong_type("results.answered"),
    "events": wrong_type("events"),
    "the result keys": result_keys_of_the_wrong_type,
}


def slowly(count: int) -> list[Query]:
    """Queries that each keep a middle stage for a moment, so that there is a middle of the work."""
    return [marked(str(number), "slow", "retrieve", 0.1) for number in range(count)]


async def half_done(fleet: Fleet) -> bool:
    """Whether some are answered, and more are not."""
    found = await fleet.system.verification()
    return found.outcomes["answered"] >= 8 and found.open > 20


@both_lengths
@pytest.mark.parametrize("refused", REFUSING)
async def test_what_the_server_refuses_for_a_while_is_neither_lost_nor_doubled(
    refused: str, times: Times, tmp_path: Path
) -> None:
    """Mid-run, for three TTLs: all wait, nobody is declared dead, every query is answered once."""
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew() as crew:
        ids = await fleet.system.bus.submit_many(slowly(100))
        await soon(lambda: half_done(fleet), why="half done")
        async with REFUSING[refused](fleet, ids):
            await asyncio.sleep(3 * times.config.alive_ttl_s)  # the outage, not a wait
        found = await fleet.system.settled()
        results = [await fleet.system.bus.result(query_id) for query_id in ids]
        fleet.calm(crew)
        fleet.ran_once(ids)
    assert (found.accepted, found.outcomes["answered"]) == (100, 100)
    assert [result.query_id for result in results] == ids
    assert found.dropped == 0


async def freeze(fleet: Fleet, seconds: float) -> None:
    """Connections stay open, and nothing answers."""
    fleet.server.freeze()
    await asyncio.sleep(seconds)
    fleet.server.thaw()


async def restart(fleet: Fleet, seconds: float) -> None:
    """Kill -9, and the same data again."""
    await asyncio.to_thread(fleet.server.kill)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(fleet.server.start)


@both_lengths
@pytest.mark.parametrize("outage", [freeze, restart])
async def test_an_outage_makes_nobody_dead_and_charges_no_attempt(
    outage: Callable[[Fleet, float], "asyncio.Future[None]"], times: Times, tmp_path: Path
) -> None:
    """Siblings that could claim: no claim, no restart, every handler ran once."""
    async with (
        open_fleet(tmp_path, times.config) as fleet,
        fleet.crew("understand", "retrieve", count=2) as crew,
        fleet.crew("synthesize", "critic", "format") as others,
    ):
        await fleet.until_proven()
        ids = await fleet.system.bus.submit_many(slowly(300))
        await soon(lambda: half_done(fleet), why="half done")
        await outage(fleet, times.outage_s)
        found = await fleet.system.settled()
        more = [await fleet.system.ask(str(number)) for number in range(3)]
        await fleet.until_proven()
        retried = await fleet.system.counter("retried")
        fleet.calm(crew)
        fleet.calm(others)
        fleet.ran_once(ids)
    assert (found.outcomes["answered"], found.outcomes["failed"], retried) == (300, 0, 0)
    assert {result.status for result in more} == {"approved_fallback"}
