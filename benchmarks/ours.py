"""Our side of the comparison: the bus as it is used, with its default limits."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bus import BusConfig, UrlBackend, Worker
from bus.client import Bus
from bus.keys import Keys
from contracts import TOPOLOGY
from groundwire.loop import settle_heap
from groundwire.noop import HANDLERS

RESULTS = Keys(0).of("results.answered")
_CONFIG = BusConfig(open_mark=1_000_000)  # the burst is meant to pile up, not to be refused


async def serve(
    url: str, name: str, ready: Callable[[], None], config: BusConfig = _CONFIG
) -> None:
    """Work as one stage, for ever; calls `ready` when it begins to read."""
    async with working(url, name, config):
        ready()
        await asyncio.Future()


@asynccontextmanager
async def working(url: str, name: str, config: BusConfig = _CONFIG) -> AsyncIterator[Worker]:
    """Work as one stage until the block ends; it has begun to read."""
    settle_heap()
    worker = Worker(
        TOPOLOGY.stage(name),
        HANDLERS[name],
        backend=UrlBackend(url),
        consumer=f"{name}-{os.getpid()}",
        config=config,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        await worker.ready.wait()
        yield worker
        worker.stop()


def client(url: str) -> Bus:
    """A client with the workers' limits."""
    return Bus(UrlBackend(url), _CONFIG)
