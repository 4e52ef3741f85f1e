"""The arena: one system under attack, with everything that a fault may lay its hands on.

Server, proxy and workers are real; the raw connection goes past the proxy, for attacks and for the account.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bus import Bus, BusConfig, UrlBackend
from bus.keys import Keys
from bus.wire import Arg, Wire
from contracts import TOPOLOGY, Unreachable
from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.supervisor import Supervisor, WorkerInfo, WorkerSpec

from .book import Book
from .load import Load
from .proxy import Proxy
from .worker import Brief, command

OPEN_MARK = 150
CONFIG = BusConfig(
    alive_ttl_s=1.0,
    lease_s=5.0,
    block_s=0.5,
    grace_s=2.0,
    reply_timeout_s=1.5,
    retry_base_s=0.1,
    retry_cap_s=1.0,
    wedge_limit_s=30.0,
    open_mark=OPEN_MARK,
    results_kept=100_000_000,
    events_kept=10_000,
)
"""Production's limits with shorter times; nothing of the account is trimmed."""
_CONNECTIONS = 6
_READY_S = 60.0
_POLL_S = 0.05


@dataclass(frozen=True)
class Arena:
    """What is up."""

    server: TemporaryServer
    proxy: Proxy
    supervisor: Supervisor
    load: Load
    book: Book
    wire: Wire
    direct: Bus
    killing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held as long as a fault has the server down."""
    keys: Keys = Keys(0)  # noqa: RUF009 - frozen

    async def command(self, *args: Arg) -> Any:
        """A raw command, repeated until the server answers: another fault may have it down."""
        while True:
            try:
                return await self.wire.call(*args)
            except Unreachable:
                await asyncio.sleep(_POLL_S)

    def work_stream(self, stage: str) -> str:
        """The key of the stage's work stream."""
        return self.keys.of(TOPOLOGY.stage(stage).consumes)

    async def victim(self, stage: str, pick: int) -> WorkerInfo:
        """A living worker of the stage; waits until there is one."""
        while True:
            alive = [one for one in self.supervisor.workers() if one.stage == stage and one.pid]
            if alive:
                return alive[pick % len(alive)]
            await asyncio.sleep(_POLL_S)


@asynccontextmanager
async def open_arena(workers: int, seed: int, logs: Path | None = None) -> AsyncIterator[Arena]:
    """A system with so many workers a stage, ready; nothing of it is left afterwards, logs asked for apart."""
    with temporary_server("always") as server:
        async with Proxy(server.url) as proxy:
            brief = server.home / "brief.json"
            Brief(proxy.url, CONFIG).write(brief)
            specs = [
                WorkerSpec(stage.name, workers, command(stage.name, brief))
                for stage in TOPOLOGY.stages
            ]
            wire = Wire(UrlBackend(server.url), CONFIG.reply_timeout_s)
            async with AsyncExitStack() as stack:

                async def client(url: str) -> Bus:
                    return await stack.enter_async_context(Bus(UrlBackend(url), CONFIG))

                direct, reporting = await client(server.url), await client(proxy.url)
                buses = [await client(proxy.url) for _ in range(_CONNECTIONS)]

                async def on_death(stage: str, consumer: str, code: int) -> None:
                    await reporting.pronounce_dead(stage, consumer)

                book = Book()
                async with Supervisor(
                    specs, logs=logs or server.home / "logs", on_death=on_death
                ) as supervisor:
                    await supervisor.start()
                    load = Load(buses, book, seed)
                    try:
                        await _until_ready(direct, workers)
                        yield Arena(server, proxy, supervisor, load, book, wire, direct)
                    finally:
                        _thaw_all(supervisor)
                        await supervisor.stop(CONFIG.grace_s)
                        await wire.close()


def _thaw_all(supervisor: Supervisor) -> None:
    for worker in supervisor.workers():
        signal_to(worker, signal.SIGCONT)


def signal_to(worker: WorkerInfo, number: signal.Signals) -> None:
    """Signal a worker's process, if it is still there."""
    if worker.pid is not None:
        try:
            os.kill(worker.pid, number)
        except ProcessLookupError:
            return


async def in_thread(work: Callable[[], None]) -> None:
    """Run blocking work beside the loop, and see it end even when cancelled: a server is half up else."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await running
        raise


async def _until_ready(bus: Bus, workers: int) -> None:
    try:
        async with asyncio.timeout(_READY_S):
            while True:
                stages = (await bus.status()).stages
                if all(stage.workers >= workers for stage in stages):
                    return
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        raise Unreachable(f"the workers are not ready after {_READY_S:g} s") from None
