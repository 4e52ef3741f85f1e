"""How long a kill -9 of a worker holds up the queries that it had in hand, at production's times (lease 60 s).

`python -m benchmarks.recovery [--kills 20] [--json]`. Seconds from the kill to the last result of the queries that were
open then, for each of three systems: two workers a stage under a supervisor that tells of a death at once, as `up`
does; two a stage that are programs of their own, with nobody above them; and `up` itself with one worker a stage, the
start of the next one included. The victims take turns through the stages; each held a query when it was killed.
"""

import argparse
import asyncio
import json
import math
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bus import Bus, BusConfig, UrlBackend
from bus.keys import Keys
from bus.wire import Wire, text
from contracts import TOPOLOGY, Query, Unreachable
from groundwire.chaos.worker import Brief, command
from groundwire.embedded import temporary_server
from groundwire.settings import load_settings
from groundwire.supervisor import Supervisor, WorkerSpec, as_command
from groundwire.system import running_system

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
STAGES = tuple(stage.name for stage in TOPOLOGY.stages)
QUERIES = 8
PATIENCE_S = 60.0
PidOf = Callable[[str], int | None]  # consumer -> process


@dataclass(frozen=True)
class Site:
    """A system whose workers may be killed. `kill` returns once the next one lives, where there will be one."""

    bus: Bus
    wire: Wire
    pid_of: PidOf
    mend: Callable[[], Awaitable[None]]


async def one_kill(site: Site, stage: str) -> float:
    """Seconds from the kill of a worker that has work in hand to the last result."""
    stream = Keys(0).of(TOPOLOGY.stage(stage).consumes)
    while True:
        asked = [Query(text="Can I get a refund?", session_id="recovery") for _ in range(QUERIES)]
        due = await site.bus.submit_many(asked)
        waiting = [asyncio.create_task(site.bus.result(one, timeout_s=PATIENCE_S)) for one in due]
        killed_at = None
        while killed_at is None and not all(one.done() for one in waiting):
            pid = await _holder(site, stream, stage)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                killed_at = time.monotonic()
        await asyncio.gather(*waiting)
        if killed_at is not None:
            took = time.monotonic() - killed_at
            await site.mend()
            return took


async def _holder(site: Site, stream: str, stage: str) -> int | None:
    """The process of a consumer of the stage that has work in hand."""
    pending: Any = await site.wire.call("XPENDING", stream, stage)
    for consumer, _ in pending[3] or ():
        pid = site.pid_of(text(consumer))
        if pid is not None:
            return pid
    return None


@dataclass(frozen=True)
class Ground:
    """A server with a client, and what its workers are told."""

    url: str
    bus: Bus
    folder: Path
    brief: Path


async def _ground(stack: AsyncExitStack) -> Ground:
    server = stack.enter_context(temporary_server())
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    brief = folder / "brief.json"
    Brief(server.url, BusConfig()).write(brief)
    bus = await stack.enter_async_context(Bus(UrlBackend(server.url)))
    return Ground(server.url, bus, folder, brief)


@asynccontextmanager
async def supervised() -> AsyncIterator[Site]:
    """Two workers a stage; their deaths are told at once."""
    async with AsyncExitStack() as stack:
        ground = await _ground(stack)

        async def on_death(stage: str, consumer: str, code: int) -> None:
            await ground.bus.pronounce_dead(stage, consumer)

        specs = [WorkerSpec(stage, 2, as_command(command(stage, ground.brief))) for stage in STAGES]
        supervisor = Supervisor(specs, logs=ground.folder / "logs", on_death=on_death)
        await stack.enter_async_context(supervisor)
        await supervisor.start()
        yield await _site(stack, ground.bus, ground.url, _pids_of(supervisor), 2)


@asynccontextmanager
async def alone() -> AsyncIterator[Site]:
    """Two workers a stage, each a program of its own; a dead one is started again only after its queries are done."""
    async with AsyncExitStack() as stack:
        ground = await _ground(stack)
        lifeline, ours = os.pipe()
        stack.callback(os.close, lifeline)
        stack.callback(os.close, ours)
        programs: dict[str, tuple[str, asyncio.subprocess.Process]] = {}
        numbers = iter(range(1_000_000))

        async def start(stage: str) -> None:
            name = f"{stage}-{next(numbers)}"
            program = await asyncio.create_subprocess_exec(
                *command(stage, ground.brief)(name, lifeline),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=[lifeline],
            )
            programs[name] = (stage, program)

        async def replace_dead() -> None:
            for name, (stage, program) in [*programs.items()]:
                if program.returncode is not None:
                    del programs[name]
                    await start(stage)
            await _until_ready(ground.bus, 2)

        async def kill_all() -> None:
            for _, program in programs.values():
                program.kill()
                await program.wait()

        def pid_of(consumer: str) -> int | None:
            known = programs.get(consumer)
            return known[1].pid if known and known[1].returncode is None else None

        stack.push_async_callback(kill_all)
        for stage in STAGES * 2:
            await start(stage)
        yield await _site(stack, ground.bus, ground.url, pid_of, 2, replace_dead)


@asynccontextmanager
async def only() -> AsyncIterator[Site]:
    """`up` on the handbook with one worker a stage and the agents that answer."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = load_settings({"GROUNDWIRE_HOME": str(folder / ".groundwire")}, folder)
        system = await stack.enter_async_context(running_system(settings, docs=HANDBOOK))
        await system.bus.result(
            await system.bus.submit(Query(text="Can I get a refund?", session_id="warm"))
        )
        yield await _site(stack, system.bus, system.url, _pids_of(system.supervisor), 1)


async def _site(
    stack: AsyncExitStack,
    bus: Bus,
    url: str,
    pid_of: PidOf,
    count: int,
    mend: Callable[[], Awaitable[None]] | None = None,
) -> Site:
    wire = Wire(UrlBackend(url), 5.0)
    stack.push_async_callback(wire.close)
    await _until_ready(bus, count)

    async def wait() -> None:
        await _until_ready(bus, count)

    return Site(bus, wire, pid_of, mend or wait)


def _pids_of(supervisor: Supervisor) -> PidOf:
    def pid_of(consumer: str) -> int | None:
        return next((w.pid for w in supervisor.workers() if w.consumer == consumer), None)

    return pid_of


async def _until_ready(bus: Bus, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                if all(stage.workers >= count for stage in (await bus.status()).stages):
                    return
            except Unreachable:
                pass
            await asyncio.sleep(0.05)


SITES: dict[str, Callable[[], Any]] = {
    "a sibling, under a supervisor": supervised,
    "a sibling, nobody above": alone,
    "the only worker, under up": only,
}


async def measure(kills: int) -> dict[str, dict[str, float]]:
    """Median and 95th percentile (nearest rank) in seconds for each system."""
    report = {}
    for name, site in SITES.items():
        async with site() as opened:
            took = []
            for number in range(kills):
                took.append(await one_kill(opened, STAGES[number % len(STAGES)]))
                print(f"{name}: {took[-1]:.2f} s", file=sys.stderr, flush=True)
        took.sort()
        p95 = took[math.ceil(0.95 * len(took)) - 1]
        report[name] = {
            "kills": kills,
            "p50_s": round(statistics.median(took), 2),
            "p95_s": round(p95, 2),
            "max_s": round(took[-1], 2),
        }
    return report


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="of each system")
    parser.add_argument("--json", action="store_true", help="the seconds as JSON")
    options = parser.parse_args()
    report = asyncio.run(measure(options.kills))
    if options.json:
        print(json.dumps(report))
        return
    for name, figures in report.items():
        told = ", ".join(f"{key} {value}" for key, value in figures.items())
        print(f"{name:<30} {told}")


if __name__ == "__main__":
    main()
