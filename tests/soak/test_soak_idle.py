"""Nothing happens for a while: nothing is said, and the next query is answered at once."""

import asyncio
from pathlib import Path

import pytest
from bus_system import STAGES
from soak_fleet import open_fleet
from soak_times import Times, both_lengths

pytestmark = pytest.mark.server


@both_lengths
async def test_idle_workers_say_nothing_and_answer_the_next_query_at_once(
    times: Times, tmp_path: Path
) -> None:
    """Each of the five begins it within 50 ms of its message; several blocking reads have ended meanwhile."""
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew() as crew:
        await fleet.system.ask("warm: connections are there")
        slowest_ms = []
        for _ in range(times.idle_rounds):
            await asyncio.sleep(times.idle_s)  # the idleness, not a wait
            answered = await fleet.system.ask("next")
            hops = await fleet.system.bus.trace(answered.query_id)
            assert len(hops) == len(STAGES)
            slowest_ms.append(max(hop.event.waited_us for hop in hops) / 1000)
        await fleet.system.settled()
        fleet.calm(crew)
        warnings = fleet.told(crew)
    assert warnings == []
    print("the slowest hop after idleness:", slowest_ms, "ms")
    assert min(slowest_ms) < 50, slowest_ms
