"""A fleet: real worker processes under a supervisor, a server of their own, and what can be said of them afterwards."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from bus_system import STAGES, System, soon, url_backend

from bus import BusConfig
from contracts import TOPOLOGY, Query
from groundwire.births import starting
from groundwire.chaos.agents import Kind, Mark
from groundwire.chaos.worker import Brief
from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.nursery import Nursery
from groundwire.supervisor import Supervisor, WorkerInfo, WorkerSpec, child_environment

_HERE = Path(__file__).parent
_ENV = child_environment(os.environ | {"PYTHONPATH": str(_HERE)})
START_S = 60.0


def marked(text: str, kind: Kind, stage: str, seconds: float = 0.0) -> Query:
    """A query that makes one stage slow or busy for a while, or kills its process."""
    mark = Mark(kind, stage, int(seconds * 1000))
    return Query(text=text, session_id="session", feature=mark.feature)


@dataclass
class Crew:
    """Workers that were started together, and how each of them ended."""

    supervisor: Supervisor
    logs: Path
    deaths: list[tuple[str, int]] = field(default_factory=list)

    def workers(self, stage: str | None = None) -> list[WorkerInfo]:
        """The living ones, of one stage or of all."""
        found = self.supervisor.workers()
        return [one for one in found if one.pid and stage in (None, one.stage)]


@dataclass
class Fleet:
    """One server and its crews."""

    system: System
    server: TemporaryServer
    folder: Path
    nursery: Nursery
    crews: list[Crew] = field(default_factory=list)

    @asynccontextmanager
    async def crew(
        self,
        *stages: str,
        count: int = 1,
        pronounces: bool = True,
        config: BusConfig | None = None,
        release: int = 1,
    ) -> AsyncIterator[Crew]:
        """So many processes of these stages (all where none is named), ready; drained at the end.

        `pronounces`: whether the supervisor tells siblings of a death at once, as `up` does.
        """
        number = len(self.crews)
        brief = self.folder / f"brief-{number}.json"
        Brief(self.server.url, config or self.system.config).write(brief)

        async def on_death(stage: str, consumer: str, code: int) -> None:
            crew.deaths.append((stage, code))
            if pronounces:
                await self.system.bus.pronounce_dead(stage, consumer)

        def spec(stage: str) -> WorkerSpec:
            told = ("--brief", str(brief), "--release", str(release))
            runs = ("--runs", str(self.folder / f"runs-{stage}"))
            return WorkerSpec(stage, count, starting(self.nursery, stage, *told, *runs))

        logs = self.folder / f"logs-{number}"
        supervisor = Supervisor(
            [spec(stage) for stage in stages or STAGES], logs=logs, on_death=on_death, env=_ENV
        )
        crew = Crew(supervisor, logs)
        self.crews.append(crew)
        async with supervisor:
            await supervisor.start()
            await soon(lambda: self._all_ready(crew), START_S, "all ready")
            yield crew
            await supervisor.stop(self.system.config.grace_s)

    async def _all_ready(self, crew: Crew) -> bool:
        return len(self.told(crew, "worker.ready")) >= len(crew.supervisor.workers())

    def runs(self, stage: str) -> Counter[str]:
        """How often the stage's handler began each query, in whatever process."""
        path = self.folder / f"runs-{stage}"
        return Counter(path.read_text().split()) if path.exists() else Counter()

    def told(self, crew: Crew, event: str | None = None, stage: str = "") -> list[dict[str, str]]:
        """The log lines of a crew's stage: of one event, or its warnings."""
        lines = []
        for path in crew.logs.glob(f"{stage}*.log"):
            for text in path.read_text().splitlines():
                line = json.loads(text)
                if line["event"] == event or (event is None and line["level"] == "warning"):
                    lines.append(line)
        return sorted(lines, key=lambda line: str(line["timestamp"]))

    def calm(self, crew: Crew) -> None:
        """Assert that nobody died, nobody was taken for dead, and nothing was tried twice."""
        assert crew.deaths == []
        assert self.told(crew, "delivery.claimed") == []
        assert all(one.restarts == 0 for one in crew.supervisor.workers())

    def ran_once(self, ids: Sequence[str], stages: Sequence[str] = STAGES) -> None:
        """Assert that every handler of these stages began each of these queries once."""
        for stage in stages:
            runs = self.runs(stage)
            assert {query_id: runs[query_id] for query_id in ids} == dict.fromkeys(ids, 1), stage

    async def owners(self, stage: str) -> dict[str, tuple[str, int]]:
        """The stage's pending entries: who holds each, and which delivery it is."""
        return await self.system.deliveries(stage)

    async def holder(self, crew: Crew, stage: str) -> WorkerInfo:
        """The living worker that holds the stage's only pending entry."""
        [(consumer, _)] = (await self.owners(stage)).values()
        [found] = [one for one in crew.workers(stage) if one.consumer == consumer]
        return found

    async def until_proven(self) -> None:
        """Let a TTL pass: only then may those who are ready now judge others, and they don't say so."""
        await asyncio.sleep(1.25 * self.system.config.alive_ttl_s)


def seconds_between(lines: Sequence[Mapping[str, str]]) -> list[float]:
    """The gaps between log lines."""
    times = [datetime.fromisoformat(line["timestamp"]).timestamp() for line in lines]
    return [later - earlier for earlier, later in pairwise(times)]


@asynccontextmanager
async def open_fleet(folder: Path, config: BusConfig) -> AsyncIterator[Fleet]:
    """A server that has on disk what it confirmed, and no workers yet."""
    async with AsyncExitStack() as stack:
        server = stack.enter_context(temporary_server("always"))
        system = await stack.enter_async_context(System(url_backend(server.url), config))
        nursery = Nursery(folder / "nursery.log", _ENV, program="soak_worker")
        stack.push_async_callback(nursery.close)
        yield Fleet(system, server, folder, nursery)


def work_stream(fleet: Fleet, stage: str) -> str:
    """The key of a stage's work stream."""
    return fleet.system.keys.of(TOPOLOGY.stage(stage).consumes)
