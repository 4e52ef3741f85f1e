"""A worker: one process of one stage in all lanes. Knows no agent and no settings."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from redis import exceptions as errors

from contracts import Stage, Unreachable

from .backend import Backend
from .beat import Beat
from .config import BusConfig
from .gate import Gate
from .groups import agree_on_lanes
from .keys import Keys
from .lane import LaneWorker
from .log import Log, no_log
from .pause import Pause
from .runner import Handler
from .settle import Place
from .watch import Vitals, Watch
from .wire import Wire


def parked_stages(stage: Stage) -> list[Stage]:
    """The stage on each stream where older workers park what only this one can read."""
    newest = max(message.version for message in stage.accepts)
    return [
        replace(stage, consumes=f"{stage.consumes}:v{version}") for version in range(2, newest + 1)
    ]


class Worker:
    """Reads, handles and settles until `stop`; then drains and leaves its group."""

    def __init__(
        self,
        stage: Stage,
        handler: Handler,
        *,
        backend: Backend,
        consumer: str,
        config: BusConfig,
        configdigest: str = "",
        used_digest: Callable[[], str] | None = None,
        failed_message: str | None = None,
        log: Log = no_log,
        jitter: Callable[[], float] = random.random,
        watch: Watch | None = None,
    ) -> None:
        self._log = log
        self.config = config
        self._stage = stage
        self._consumer = consumer
        self._first = Wire(backend, config.reply_timeout_s)
        self._parts: list[tuple[Beat, list[LaneWorker]]] = []
        gate = Gate(config.concurrency)
        for lane in range(config.lanes):
            places = [
                Place(known, Keys(lane), consumer, config, configdigest, used_digest)
                for known in (stage, *parked_stages(stage))
            ]
            beat = Beat(backend, places)
            lanes = [
                LaneWorker(
                    place,
                    handler,
                    backend=backend,
                    beat=beat,
                    gate=gate,
                    failed_message=failed_message,
                    log=log,
                    jitter=jitter,
                    watch=watch,
                )
                for place in places
            ]
            self._parts.append((beat, lanes))
        self._opened = 0
        self._stop = asyncio.Event()
        self.ready = asyncio.Event()
        """Set once the groups exist and reading begins."""

    @property
    def vitals(self) -> list[Vitals]:
        """How each of its places stands: two for a stage that also reads parked messages, and so in each lane."""
        return [lane.vitals for _, lanes in self._parts for lane in lanes]

    @property
    def loop_age_s(self) -> float:
        """Seconds since the loop last came round. For any thread."""
        return max(beat.loop_age_s for beat, _ in self._parts)

    def stop(self) -> None:
        """Ask the worker to drain and leave; safe to call twice and from a signal handler."""
        self._stop.set()

    async def run(self) -> None:
        """Work until `stop`. Misconfigured if the server is set up for another number of lanes."""
        try:
            try:
                await self._agree()
            finally:
                await self._first.close()
            async with asyncio.TaskGroup() as group:
                for beat, lanes in self._parts:
                    group.create_task(self._work(beat, lanes))
        finally:
            await asyncio.gather(*(self._leave(beat, lanes) for beat, lanes in self._parts))
        self._log("worker.left", stage=self._stage.name, consumer=self._consumer)

    async def _agree(self) -> None:
        """Wait for lane 0's server or `stop`, and agree on the lanes."""
        pause = Pause()
        while not self._stop.is_set():
            try:
                await agree_on_lanes(self._first, self.config.lanes)
                return
            except (Unreachable, errors.ResponseError) as error:
                self._log("start.waiting", stage=self._stage.name, error=str(error)[:200])
                await pause.wait()

    async def _work(self, beat: Beat, lanes: Sequence[LaneWorker]) -> None:
        """In one lane, as soon as its server is there; the others don't wait for it."""
        for lane in lanes:
            await lane.prepare(self._stop)
        await self._first_beat(beat)
        if self._stop.is_set():
            return
        self._opened += 1
        if self._opened == len(self._parts):
            self._log("worker.ready", stage=self._stage.name, consumer=self._consumer)
            self.ready.set()
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(lane.run(self._stop))

    async def _first_beat(self, beat: Beat) -> None:
        pause = Pause()
        while not self._stop.is_set():
            if await asyncio.to_thread(beat.beat):
                beat.start()
                return
            await pause.wait()

    async def _leave(self, beat: Beat, lanes: Sequence[LaneWorker]) -> None:
        await asyncio.to_thread(beat.stop)
        for lane in lanes:
            await lane.leave()
