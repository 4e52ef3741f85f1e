"""Everything at once, from a seed: what the other tests do one at a time."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from bus_system import FAST, NOOP, STAGES, Running, System, leave, query, ready, url_backend

from contracts import TOPOLOGY, Transient

pytest_plugins = ("bus_fixtures",)


class Attack:
    """Workers under load, and what may happen to them."""

    def __init__(self, system: System, seed: int) -> None:
        self.system = system
        self.chance = random.Random(seed)
        self.workers: list[Running] = []

    async def start(self, stage: str) -> None:
        """One more worker of a stage, whose handler fails now and then."""

        async def handler(message: Any) -> Any:
            await asyncio.sleep(self.chance.random() * 0.01)
            if self.chance.random() < 0.02:
                raise Transient("now and then")
            return await NOOP[stage](message)

        running = self.system.start(stage, handler, attempts=50, deliveries=100, alive_ttl_s=0.4)
        await ready(running)
        self.workers.append(running)

    async def vanish(self) -> None:
        """One is gone without a goodbye, and replaced."""
        running = self.workers.pop(self.chance.randrange(len(self.workers)))
        await running.vanish()
        await self.start(running.stage)

    async def drain(self) -> None:
        """One leaves in order, and is replaced."""
        running = self.workers.pop(self.chance.randrange(len(self.workers)))
        await asyncio.gather(leave(running), self.start(running.stage))

    async def destroy(self) -> None:
        """A group is lost."""
        stage = TOPOLOGY.stage(self.chance.choice(STAGES))
        stream = self.system.keys.of(stage.consumes)
        await self.system.call("XGROUP", "DESTROY", stream, stage.name)

    async def steal(self) -> None:
        """A stranger claims what others hold."""
        stage = TOPOLOGY.stage(self.chance.choice(STAGES))
        stream = self.system.keys.of(stage.consumes)
        rows = await self.system.call("XPENDING", stream, stage.name, "-", "+", 5)
        for entry_id, *_ in rows:
            await self.system.call("XCLAIM", stream, stage.name, "stranger", 0, entry_id)

    async def forget(self) -> None:
        """The scripts are flushed."""
        await self.system.call("SCRIPT", "FLUSH")

    async def strike(self) -> None:
        """One of these; a group that is not there yet can't be robbed."""
        act = self.chance.choice([self.vanish, self.drain, self.destroy, self.steal, self.forget])
        try:
            await act()
        except Exception as error:
            if "NOGROUP" not in str(error):
                raise


@pytest.mark.server
@pytest.mark.parametrize(("seed", "blob_bytes"), [(0, FAST.blob_bytes), (1, 16)])
async def test_nothing_is_lost_or_doubled_under_attack(
    server_url: str, seed: int, blob_bytes: int
) -> None:
    """A hundred and twenty queries, two workers a stage, twelve strikes: as many results.

    The same with every message a blob, and no blob is left.
    """
    async with System(url_backend(server_url), replace(FAST, blob_bytes=blob_bytes)) as real:
        await _attack(real, seed)
        assert await real.call("KEYS", "*:blob:*") == []


async def _attack(real: System, seed: int) -> None:
    attack = Attack(real, seed)
    for stage in STAGES * 2:
        await attack.start(stage)
    ids: list[str] = []
    for number in range(12):
        ids += await real.bus.submit_many([query(f"{number} {n}") for n in range(10)])
        await attack.strike()
    found = await real.settled()
    assert not any(running.task.done() for running in attack.workers)
    await asyncio.gather(*(leave(running) for running in attack.workers))
    results = [r for outcome in ("answered", "failed") for r in await real.results(outcome)]
    assert sorted(response.query_id for response in results) == sorted(ids)
    assert found.accepted == 120
    assert found.outcomes["answered"] == 120, [r.error for r in await real.dead()]
