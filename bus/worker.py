"""A worker: one process of one stage in all lanes. Knows no agent and no settings."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

from contracts import Stage

from .beat import Beat
from .config import BusConfig
from .keys import Keys
from .lane import LaneWorker
from .log import Log, no_log
from .pause import Pause
from .runner import Handler
from .settle import Place
from .watch import Vitals, Watch
from .wire import Backend


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
        places = [
            Place(known, Keys(lane), consumer, config, configdigest, used_digest)
            for lane in range(config.lanes)
            for known in (stage, *parked_stages(stage))
        ]
        self._beat = Beat(backend, places)
        self._lanes = [
            LaneWorker(
                place,
                handler,
                backend=backend,
                beat=self._beat,
                failed_message=failed_message,
                log=log,
                jitter=jitter,
                watch=watch,
            )
            for place in places
        ]
        self._stop = asyncio.Event()
        self.ready = asyncio.Event()
        """Set once the groups exist and reading begins."""

    @property
    def vitals(self) -> list[Vitals]:
        """How each of its places stands: two for a stage that also reads parked messages, and so in each lane."""
        return [lane.vitals for lane in self._lanes]

    @property
    def loop_age_s(self) -> float:
        """Seconds since the loop last came round. For any thread."""
        return self._beat.loop_age_s

    def stop(self) -> None:
        """Ask the worker to drain and leave; safe to call twice and from a signal handler."""
        self._stop.set()

    async def run(self) -> None:
        """Work until `stop`. Misconfigured if the server is set up for another number of lanes."""
        try:
            for lane in self._lanes:
                await lane.prepare(self._stop)
            await self._first_beat()
            if not self._stop.is_set():
                await self._work()
        finally:
            await asyncio.to_thread(self._beat.stop)
            for lane in self._lanes:
                await lane.leave()
        self._log("worker.left", stage=self._stage.name, consumer=self._consumer)

    async def _work(self) -> None:
        self._log("worker.ready", stage=self._stage.name, consumer=self._consumer)
        self.ready.set()
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(lane.run(self._stop))

    async def _first_beat(self) -> None:
        pause = Pause()
        while not self._stop.is_set():
            if await asyncio.to_thread(self._beat.beat):
                self._beat.start()
                return
            await pause.wait()
