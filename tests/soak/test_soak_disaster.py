"""A machine is lost under load, and its system comes back from a backup: by commands alone, as an operator does it."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from e2e.machine import (
    HANDBOOK,
    Home,
    descendants,
    is_settled,
    query,
    results_so_far,
    running_up,
    soon,
)

from groundwire.embedded.process import is_running

pytestmark = [pytest.mark.server, pytest.mark.soak]

QUESTION = "How do I cancel my plan?"


async def _are_gone(family: set[int]) -> bool:
    return not any(map(is_running, family))


async def test_a_system_that_was_lost_comes_back_as_of_its_backup(tmp_path: Path) -> None:
    """Whatever was accepted before the backup has one result afterwards, whether it was open then or answered."""
    lost, anew = Home(tmp_path / "lost"), Home(tmp_path / "anew")
    for home in (lost, anew):
        home.folder.mkdir()
    later: list[str] = []
    with running_up(lost, "--docs", HANDBOOK) as process:
        async with lost.connect() as bus:
            known = await bus.submit_many([query(QUESTION) for _ in range(300)])

            async def load() -> None:
                while True:
                    later.extend(await bus.submit_many([query(QUESTION) for _ in range(5)]))
                    await asyncio.sleep(0.05)

            loading = asyncio.create_task(load())
            saved = await asyncio.to_thread(lost.run, "backup", tmp_path / "saved")
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
        family = descendants(process.pid)
        process.kill()
        process.wait()
        await soon(lambda: _are_gone(family), "nothing is left of it")
    assert saved.returncode == 0, saved.stderr
    restored = anew.run("restore", tmp_path / "saved")
    assert restored.returncode == 0, restored.stderr
    with running_up(anew):
        async with anew.connect() as bus:
            await soon(lambda: is_settled(bus), "no query is open", 60.0)
            (verified,) = await bus.verify()
            _, results = await results_so_far(bus, "0", verified.accepted)
    assert verified.holds
    counts = Counter(result.query_id for result in results)
    assert set(counts.values()) == {1}
    assert set(known) <= set(counts) <= {*known, *later}
    assert {result.status for result in results} == {"approved"}
