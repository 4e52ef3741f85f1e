"""Many queries: what is left of them, and what happens to more than the system takes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from bus_system import System, query, url_backend
from soak_fleet import Fleet, open_fleet
from soak_times import Times, both_lengths

from contracts import OUTCOMES, TOPOLOGY, Overloaded

pytestmark = pytest.mark.server
CLIENTS = 4


@both_lengths
async def test_after_many_queries_every_work_stream_is_empty_and_memory_is_back(
    times: Times, tmp_path: Path
) -> None:
    """Results, idempotency keys and the capped streams set aside: those are kept on purpose."""
    async with open_fleet(tmp_path, times.config) as fleet, fleet.crew() as crew:
        before = await _answer(fleet, 500)
        after = await _answer(fleet, times.queries)
        lengths = [await fleet.system.backlog(name) for name in TOPOLOGY.work_streams]
        fleet.calm(crew)
    assert lengths == [0] * len(lengths)
    print(f"memory: {before} before, {after} after {times.queries} queries")
    assert after - before < times.leak_bytes, (before, after)


async def _answer(fleet: Fleet, count: int) -> int:
    """Answer so many queries; the memory in use once everything kept on purpose is set aside."""
    system = fleet.system
    for number in range(0, count, 500):
        await system.bus.submit_many([query(str(n)) for n in range(number, number + 500)])
    found = await system.settled(300)
    assert found.outcomes["answered"] == found.accepted
    names = [f"results.{outcome}" for outcome in OUTCOMES]
    kept = [system.keys.of(name) for name in (*names, "events", "dead")]
    for pattern in ("result:*", "idem:*"):
        kept += [key.decode() for key in await system.call("KEYS", system.keys.of(pattern))]
    for start in range(0, len(kept), 1_000):
        await system.call("DEL", *kept[start : start + 1_000])
    await system.call("HDEL", system.keys.counters, "accepted", *OUTCOMES)
    await system.call("MEMORY", "PURGE")
    told = (await system.call("INFO", "memory")).decode()
    return int(told.partition("used_memory:")[2].split()[0])


@both_lengths
async def test_a_flood_of_ten_times_the_mark_is_refused_explicitly_and_none_is_lost(
    times: Times, server_url: str
) -> None:
    """With all workers stopped: the mark is accepted exactly, nine marks are told to come again."""
    config = replace(times.config, open_mark=times.open_mark)
    accepted: list[str] = []
    refusals: list[Overloaded] = []

    async def flood(client: System, first: int) -> None:
        for number in range(first, 10 * times.open_mark, CLIENTS):
            try:
                accepted.append(await client.bus.submit(query(str(number))))
            except Overloaded as refused:
                refusals.append(refused)

    clients = [System(url_backend(server_url), config) for _ in range(CLIENTS)]
    for client in clients:
        await client.__aenter__()
    await asyncio.gather(*(flood(client, first) for first, client in enumerate(clients)))
    system = clients[0]
    full = await system.verification()
    async with system.running():
        found = await system.settled(300)
        answered = {response.query_id for response in await system.results("answered")}
    for client in clients:
        await client.__aexit__()
    assert (len(accepted), len(refusals)) == (times.open_mark, 9 * times.open_mark)
    assert all(refused.retry_after_s > 0 for refused in refusals)
    assert (full.accepted, full.open, full.working) == (times.open_mark,) * 3
    assert answered == set(accepted)
    assert found.outcomes["answered"] == times.open_mark
