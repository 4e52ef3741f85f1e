"""A rolling upgrade and its way back, as docs/operations.md describes them, by real processes under load."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from bus_system import STAGES, query
from soak_fleet import Crew, Fleet, open_fleet
from soak_times import FULL

pytestmark = [pytest.mark.server, pytest.mark.soak]


async def test_stage_by_stage_up_from_the_last_and_down_from_the_first_loses_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    """Readers of a new message before its writer, and the other way round on the way back: nothing is ever parked."""
    async with open_fleet(tmp_path, FULL.config) as fleet:
        old = {stage: fleet.crew(stage) for stage in STAGES}
        new = {stage: fleet.crew(stage, release=2) for stage in STAGES}
        back = {stage: fleet.crew(stage) for stage in STAGES}
        await asyncio.gather(*(crew.__aenter__() for crew in old.values()))
        async with _load(fleet) as asked:
            for stage in reversed(STAGES):
                await _swap(fleet, old[stage], new[stage])
            up = len(asked)
            await asyncio.sleep(0.2)
            for stage in STAGES:
                await _swap(fleet, new[stage], back[stage])
        found = await fleet.system.settled()
        fleet.ran_once(asked)
        results = [result async for result in _results(fleet, len(asked))]
        by = await _releases(fleet, asked[up])
        await asyncio.gather(*(crew.__aexit__(None, None, None) for crew in back.values()))
        deaths = [death for crew in fleet.crews for death in crew.deaths]
    assert deaths == []
    assert found.holds
    assert found.outcomes["answered"] == found.accepted == len(asked)
    assert Counter(results) == Counter(asked)
    assert by == {"release 2"}


@asynccontextmanager
async def _load(fleet: Fleet) -> AsyncIterator[list[str]]:
    """Submit all the while; the queries so far."""
    asked: list[str] = []

    async def submit() -> None:
        while True:
            asked.extend(await fleet.system.bus.submit_many([query("why?") for _ in range(4)]))
            await asyncio.sleep(0.02)

    task = asyncio.create_task(submit())
    try:
        yield asked
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _swap(
    fleet: Fleet,
    before: AbstractAsyncContextManager[Crew],
    after: AbstractAsyncContextManager[Crew],
) -> None:
    """The next one ready, then the one before told to stop; nothing waits for somebody who can read it."""
    await after.__aenter__()
    await before.__aexit__(None, None, None)
    assert (await fleet.system.verification()).parked == 0


async def _results(fleet: Fleet, count: int) -> AsyncIterator[str]:
    async for result in fleet.system.bus.results("all", after="0"):
        yield result.response.query_id
        count -= 1
        if not count:
            return


async def _releases(fleet: Fleet, query_id: str) -> set[str]:
    return {seen.event.config_digest for seen in await fleet.system.bus.trace(query_id)}
