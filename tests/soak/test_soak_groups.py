"""A group is destroyed while work is queued: exactly the unfinished work runs, quietly."""

import asyncio
import time
from pathlib import Path

import pytest
from bus_system import query, soon
from soak_fleet import Fleet, marked, open_fleet, seconds_between, work_stream
from soak_times import Times, both_lengths

from groundwire.logs import QUIET_S

pytestmark = pytest.mark.server
STAGE, CONCURRENCY = "retrieve", 8


async def destroy(fleet: Fleet) -> None:
    """Destroy the group of the stage, where it exists."""
    await fleet.system.call("XGROUP", "DESTROY", work_stream(fleet, STAGE), STAGE)


@both_lengths
async def test_a_destroyed_group_repeats_no_finished_work_and_skips_none(
    times: Times, tmp_path: Path
) -> None:
    """Twenty finished never run again; of forty others only those run twice that were running."""
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew() as crew:
        system = fleet.system
        finished = await system.bus.submit_many([query(str(number)) for number in range(20)])
        await system.settled()
        queued = await system.bus.submit_many(
            [marked(str(number), "slow", STAGE, 0.3) for number in range(40)]
        )
        await soon(lambda: _queued(fleet, 40 - CONCURRENCY), why="queued")
        await destroy(fleet)
        found = await system.settled()
        fleet.calm(crew)
        warnings = fleet.told(crew, stage=STAGE)
        ran = fleet.runs(STAGE)
    assert found.outcomes["answered"] == 60
    assert {ran[query_id] for query_id in finished} == {1}
    assert set(ran) == {*finished, *queued}
    assert sum(ran[query_id] - 1 for query_id in queued) <= CONCURRENCY
    assert [line["event"] for line in warnings] == ["group.recreated"]


async def _queued(fleet: Fleet, least: int) -> bool:
    started = len(fleet.runs(STAGE)) > 20
    return started and await fleet.system.backlog("intents") >= least


@both_lengths
async def test_a_group_destroyed_again_and_again_costs_a_warning_a_second_and_no_loop(
    times: Times, tmp_path: Path
) -> None:
    """Fifty times a second for some seconds: nobody exits, few commands are sent, all is answered."""
    lasts_s = 2.0 if times.idle_rounds > 1 else 10.0
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew() as crew:
        system = fleet.system
        await system.ask()
        submitting = asyncio.create_task(
            system.bus.submit_many(
                [marked(str(number), "slow", STAGE, 0.05) for number in range(60)]
            )
        )
        before, began = await _reads(fleet), time.monotonic()
        while time.monotonic() - began < lasts_s:
            await destroy(fleet)
            await asyncio.sleep(0.02)
        reads = await _reads(fleet) - before
        ids = await submitting
        found = await system.settled()
        fleet.calm(crew)
        warnings = fleet.told(crew, stage=STAGE)
    assert found.outcomes["answered"] == len(ids) + 1 == 61
    assert warnings
    assert min(seconds_between(warnings), default=QUIET_S) > 0.95 * QUIET_S, warnings
    assert reads / lasts_s < 60 + 20, (
        "each destruction ends one read at most, and each end is paused"
    )


async def _reads(fleet: Fleet) -> int:
    """How many blocking reads the server was asked for so far."""
    told = (await fleet.system.call("INFO", "commandstats")).decode()
    [line] = [one for one in told.splitlines() if one.startswith("cmdstat_xreadgroup:")]
    return int(line.partition("calls=")[2].partition(",")[0])
