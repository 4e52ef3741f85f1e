"""Whose worker is killed, told to stop, or killed by its own work: who takes over, how soon, at what charge."""

import asyncio
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from bus_system import STAGES, query, soon
from soak_fleet import Crew, Fleet, marked, open_fleet
from soak_times import Times, both_lengths

pytestmark = pytest.mark.server


@both_lengths
async def test_the_only_message_of_a_killed_worker_finishes_without_another_one(
    times: Times, tmp_path: Path
) -> None:
    """Nobody tells of the death and nothing more is published: a sibling sees it within a TTL."""
    handled_s = 1.0
    async with (
        open_fleet(tmp_path, times.config) as fleet,
        fleet.crew("understand", count=2, pronounces=False) as crew,
        fleet.crew("retrieve", "synthesize", "critic", "format"),
    ):
        await fleet.until_proven()
        query_id = await fleet.system.bus.submit(marked("one", "slow", "understand", handled_s))
        await soon(lambda: _began(fleet, 1), why="begun")
        victim = await fleet.holder(crew, "understand")
        assert victim.pid
        os.kill(victim.pid, signal.SIGKILL)
        killed = time.monotonic()
        result = await fleet.system.bus.result(query_id)
        took_s = time.monotonic() - killed
        await fleet.system.settled()
        runs = fleet.runs("understand")
    assert result.status == "approved_fallback"
    assert runs == {query_id: 2}
    assert crew.deaths == [("understand", -signal.SIGKILL)]
    assert took_s < times.config.alive_ttl_s + handled_s + 1.5, "the lease is not waited for"


async def _began(fleet: Fleet, count: int) -> bool:
    return fleet.runs("understand").total() >= count


@both_lengths
async def test_sigterm_finishes_four_and_hands_sixteen_over_within_a_second_at_no_charge(
    times: Times, tmp_path: Path
) -> None:
    """Twenty prefetched, four of them running: each runs once, and counts as delivered once."""
    slow_s, sibling = 5.0, replace(times.config, concurrency=16)
    if times.idle_rounds == 1:
        slow_s = 9.0  # as long as a sibling takes to start and to be proven, and within the grace
    narrow = replace(times.config, concurrency=4)
    async with open_fleet(tmp_path, times.config) as fleet:
        async with fleet.crew("understand", config=narrow) as leaving:
            await fleet.system.bus.submit_many([query(str(number)) for number in range(200)])
            await soon(lambda: _began(fleet, 200), why="warm: its window is wide")
            ids = await fleet.system.bus.submit_many(
                [marked(str(number), "slow", "understand", slow_s) for number in range(20)]
            )
            await soon(lambda: _began(fleet, 204), why="four running")
            await soon(lambda: _held(fleet, leaving, 20), why="twenty prefetched")
            async with fleet.crew("understand", config=sibling) as staying:
                await fleet.until_proven()
                assert await _held(fleet, leaving, 20)
                told = time.monotonic()
                stopping = asyncio.create_task(leaving.supervisor.stop(times.config.grace_s))
                await soon(lambda: _held(fleet, staying, 16), 5.0, "taken over")
                took_s = time.monotonic() - told
                owners = await fleet.owners("understand")
                await stopping
                async with fleet.crew("retrieve", "synthesize", "critic", "format"):
                    found = await fleet.system.settled()
                again = await fleet.system.counter("retried")
        fleet.ran_once(ids, ["understand"])
    assert took_s < 1.0
    assert Counter(count for _, count in owners.values()) == {1: 20}, "no attempt charged"
    assert (found.outcomes["answered"], again) == (220, 0)


async def _held(fleet: Fleet, crew: Crew, count: int) -> bool:
    names = {one.consumer for one in crew.workers("understand")}
    owners = await fleet.owners("understand")
    return sum(owner in names for owner, _ in owners.values()) == count


@both_lengths
async def test_of_sixteen_queries_one_kills_its_process_and_fifteen_are_answered(
    times: Times, tmp_path: Path
) -> None:
    """The one is dead after its limit: so many processes died of it, and not one more."""
    asked = [query(str(number)) for number in range(15)]
    asked.insert(7, marked("poison", "poison", "understand"))
    async with open_fleet(tmp_path, times.config) as fleet:
        ids = await fleet.system.bus.submit_many(asked)
        async with fleet.crew("understand", count=2) as dying, fleet.crew(*STAGES[1:]):
            found = await fleet.system.settled(120)
            [record] = await fleet.system.dead()
            failed = await fleet.system.results("failed")
    limit = times.config.deliveries
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (15, 1)
    assert [response.query_id for response in failed] == [ids[7]]
    assert (record.query_id, record.reason, record.deliveries) == (ids[7], "deliveries", limit + 1)
    assert dying.deaths == [("understand", -signal.SIGKILL)] * limit


@both_lengths
async def test_restarts_leave_no_consumers_behind(times: Times, tmp_path: Path) -> None:
    """Killed with -9 each time, so nobody says goodbye: whoever lives removes the dead and empty."""
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew("understand") as living:
        for _ in range(times.restarts):
            async with fleet.crew("understand") as short:
                await short.supervisor.stop(0.0)
        # REAP_AFTER_MS: a dead consumer counts as gone after ten idle seconds, at any length
        await soon(lambda: _few(fleet, 1 + 3), 30, "consumers ≤ live + a few")
        [worker] = living.workers()
        assert worker.consumer in await _consumers(fleet)


async def _few(fleet: Fleet, most: int) -> bool:
    return len(await _consumers(fleet)) <= most


async def _consumers(fleet: Fleet) -> set[str]:
    stream = fleet.system.keys.of("queries")
    rows = await fleet.system.call("XINFO", "CONSUMERS", stream, "understand")
    return {row[1].decode() for row in rows}


@both_lengths
async def test_twenty_workers_started_at_once_have_twenty_names(
    times: Times, tmp_path: Path
) -> None:
    """In the group as well as at the supervisor; they share the work, each query runs once."""
    async with (
        open_fleet(tmp_path, times.config) as fleet,
        fleet.crew("understand", count=20) as crew,
    ):
        ids = await fleet.system.bus.submit_many([query(str(number)) for number in range(200)])
        await soon(lambda: _began(fleet, 200), why="all begun")
        await soon(lambda: _few(fleet, 20))
        names = await _consumers(fleet)
        assert names == {one.consumer for one in crew.workers()}
        fleet.ran_once(ids, ["understand"])
    assert len(names) == 20
