"""A worker process, observed: joins its port, its metrics and its worker, from its start until it has left."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from bus import Log, Vitals, Watch, Worker


class Observed:
    """What is known of the process: nothing of a worker, until it attends."""

    def __init__(self, settings: Settings) -> None:
        self._oldest_s = settings.ready_oldest_s
        self._worker: Worker | None = None
        self.watch: Watch | None = None
        """Whom the worker tells; None where nobody asks."""

    def attend(self, worker: "Worker") -> None:
        """From now on answer for this worker."""
        self._worker = worker

    def vitals(self) -> "Sequence[Vitals]":
        """How the worker's places stand."""
        return [] if self._worker is None else self._worker.vitals

    def live(self) -> list[str]:
        """Why the process isn't alive."""
        from .readiness import faults_of_life

        return [] if self._worker is None else faults_of_life(self._worker.loop_age_s)

    def ready(self) -> list[str]:
        """Why the worker isn't ready."""
        from .readiness import Limits, faults_of_readiness

        if self._worker is None:
            return ["starting: its corpus and models are awaited"]
        limits = Limits(self._worker.config.block_s, self._oldest_s)
        standing = faults_of_readiness(self._worker.vitals, now=time.monotonic(), limits=limits)
        return self.live() + standing


@contextmanager
def observing(stage: str, settings: Settings, log: "Log") -> Iterator[Observed]:
    """Listen on the port that the settings name until the block ends; without one nothing is even imported."""
    observed = Observed(settings)
    if not settings.health_port:
        yield observed
        return
    from .health import Answers, listening
    from .metrics import WorkerMetrics

    metrics = WorkerMetrics(stage, observed.vitals)
    observed.watch = metrics
    answers = Answers(observed.live, observed.ready, metrics.text)
    with listening(settings.health_host, settings.health_port, answers) as port:
        log("health.listening", stage=stage, host=settings.health_host, port=port)
        yield observed
