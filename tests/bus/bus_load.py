"""Load that can be struck: durable submits in a loop, and what became of each of them."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bus_system import Running, System, query, soon

from bus.delivery import fields_of
from bus.keys import Keys
from bus.results import response_in
from bus.wire import Wires
from contracts import OUTCOMES, Transient

_BATCH = 4
_PACE_S = 0.01


@dataclass
class Load:
    """A client that submits durably until it is told that it worked."""

    system: System
    accepted: set[str] = field(default_factory=set)
    longest_s: float = 0.0
    """The longest that a batch took until all of it was confirmed: the outage as a client sees it."""
    workers: dict[str, Running] = field(default_factory=dict)

    async def run(self) -> None:
        """Submit for ever."""
        number = 0
        while True:
            asked = [
                self.system.bus.named(query(str(number), session=f"s{number + n}"))
                for n in range(_BATCH)
            ]
            number += _BATCH
            begun = time.monotonic()
            while True:
                try:
                    self.accepted.update(await self.system.bus.submit_many(asked, durable=True))
                    break
                except Transient:
                    await asyncio.sleep(_PACE_S)
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            await asyncio.sleep(_PACE_S)

    async def more(self, count: int) -> None:
        """Wait until so many more are accepted."""
        wanted = len(self.accepted) + count

        async def enough() -> bool:
            return len(self.accepted) >= wanted

        await soon(enough)

    async def account(self) -> None:
        """Every accepted query has one result, nothing is open, and the law holds in every lane."""
        await soon(self._is_over, why="settled")
        counts = await self._results()
        lost = self.accepted - counts.keys()
        twice = [query_id for query_id, count in counts.items() if count > 1]
        assert not lost, f"{len(lost)} of {len(self.accepted)} lost: {sorted(lost)[:5]}"
        assert not twice, f"{len(twice)} have more than one result: {twice[:5]}"

    async def _is_over(self) -> bool:
        try:
            return all(lane.holds and not lane.open for lane in await self.system.bus.verify())
        except Transient:
            return False

    async def _results(self) -> Counter[str]:
        wires = Wires(self.system.backend, 5.0)
        found: Counter[str] = Counter()
        for lane in range(self.system.config.lanes):
            for outcome in OUTCOMES:
                stream = Keys(lane).of(f"results.{outcome}")
                for _, flat in await wires[lane].call("XRANGE", stream, "-", "+"):
                    response = response_in(fields_of(flat))
                    assert response is not None
                    found[response.query_id] += 1
        await wires.close()
        return found


@asynccontextmanager
async def loaded(system: System) -> AsyncIterator[Load]:
    """All stages at work and a client that submits; at the end the account of it."""
    load = Load(system)
    async with system.running() as load.workers:
        running = asyncio.create_task(load.run())
        try:
            await load.more(40)
            yield load
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        await load.account()
