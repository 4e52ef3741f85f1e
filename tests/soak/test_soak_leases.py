"""Handlers that take long: past leases they run once, past the wedge limit they end as one dead letter."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from bus_system import STAGES, query
from soak_fleet import marked, open_fleet
from soak_times import Times, both_lengths

from bus.beat import WEDGED_EXIT

pytestmark = pytest.mark.server


@both_lengths
async def test_a_handler_three_leases_long_runs_once_also_if_it_blocks_the_loop(
    times: Times, tmp_path: Path
) -> None:
    """One waits, one keeps its whole process busy, with a sibling that could take either over."""
    long_s = 3.2 * times.config.lease_s
    async with (
        open_fleet(tmp_path, times.config) as fleet,
        fleet.crew("understand", "retrieve", count=2) as crew,
        fleet.crew("synthesize", "critic", "format"),
    ):
        began = time.monotonic()
        ids = [
            await fleet.system.bus.submit(marked("waits", "slow", "understand", long_s)),
            await fleet.system.bus.submit(marked("blocks", "busy", "retrieve", long_s)),
        ]
        found = await fleet.system.settled(2 * long_s + 60)
        took_s = time.monotonic() - began
        fleet.calm(crew)
        fleet.ran_once(ids)
    assert took_s > 3 * times.config.lease_s
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (2, 0)


@both_lengths
async def test_a_handler_blocked_past_the_wedge_limit_ends_as_one_dead_letter(
    times: Times, tmp_path: Path
) -> None:
    """The beat ends its process each time; its neighbours, in hand with it, are answered."""
    config = replace(times.config, wedge_limit_s=times.wedge_limit_s)
    stuck_s, limit = 10 * times.wedge_limit_s, config.deliveries
    async with open_fleet(tmp_path, config) as fleet:
        asked = [query(str(number)) for number in range(10)]
        asked.insert(3, marked("stuck", "busy", "understand", stuck_s))
        ids = await fleet.system.bus.submit_many(asked)
        async with fleet.crew("understand", count=2) as dying, fleet.crew(*STAGES[1:]):
            found = await fleet.system.settled((limit + 1) * (times.wedge_limit_s + 10))
            records = await fleet.system.dead()
            ran = fleet.runs("understand")
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (10, 1)
    assert [(one.query_id, one.reason, one.deliveries) for one in records] == [
        (ids[3], "deliveries", limit + 1)
    ]
    assert ran[ids[3]] == limit
    assert dying.deaths == [("understand", WEDGED_EXIT)] * limit
