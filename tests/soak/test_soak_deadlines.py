"""A deadline that passes while nobody works: a failed result, and a replay that is answered all the same."""

import asyncio
from dataclasses import replace

import pytest
from bus_system import System, query, url_backend
from soak_times import Times, both_lengths

pytestmark = pytest.mark.server


@both_lengths
async def test_a_dead_letter_whose_deadline_has_long_passed_can_be_replayed(
    times: Times, server_url: str
) -> None:
    """Its deadline is long gone when it dies; the replay has one of its own and supersedes."""
    config = replace(times.config, deadline_s=times.deadline_s)
    async with System(url_backend(server_url), config) as system:
        query_id = await system.bus.submit(query())
        await asyncio.sleep(1.05 * times.deadline_s)  # its whole deadline, by the clock
        async with system.running():
            failed = await system.bus.result(query_id)
            [entry] = await system.bus.dead.list()
            assert await system.bus.dead.replay(entry.id) == query_id
            found = await system.settled()
            answered = await system.bus.result(query_id)
        [superseded] = await system.call("XRANGE", system.keys.of("results.failed"), "-", "+")
        [response] = await system.results("answered")
    assert (failed.status, entry.record.reason) == ("failed", "deadline")
    assert answered.status == "approved_fallback"
    assert response.supersedes == superseded[0].decode()
    assert (found.accepted, found.replayed, found.outcomes["answered"]) == (1, 1, 1)
