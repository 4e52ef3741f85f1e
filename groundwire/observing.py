"""A worker process, observed: joins its port, metrics, traces, log and worker, from its start until it has left."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from .narrating import Narrator
from .settings import Settings
from .tracing import tracing

if TYPE_CHECKING:
    from bus import Handling, Hop, Log, Vitals, Watch, Worker

    from .metrics import WorkerMetrics


class Watches:
    """Several watches as one."""

    def __init__(self, *watches: "Watch") -> None:
        self._settled = [one.settled for one in watches]
        self._lagged = [one.lagged for one in watches]
        self._started = [one.started for one in watches if one.started is not None]
        self.started: Callable[[Callable[[], Handling]], None] | None = None
        if self._started:  # one alone without a detour
            self.started = self._start if len(self._started) > 1 else self._started[0]
        self.is_measuring = any(one.is_measuring for one in watches)

    def settled(self, hop: "Hop", /) -> None:
        """Tell all."""
        for tell in self._settled:
            tell(hop)

    def lagged(self, seconds: float, /) -> None:
        """Tell all."""
        for tell in self._lagged:
            tell(seconds)

    def _start(self, tell: "Callable[[], Handling]") -> None:
        for started in self._started:
            started(tell)


class Observed:
    """What is known of the process: nothing of a worker, until it attends."""

    def __init__(self, settings: Settings, watch: "Watch") -> None:
        self._oldest_s = settings.ready_oldest_s
        self._worker: Worker | None = None
        self.watch = watch
        """Whom the worker tells."""

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
def observing(
    stage: str, settings: Settings, log: "Log", env: Mapping[str, str]
) -> Iterator[Observed]:
    """Log and trace what the worker does, and listen on the port that the settings name, until the block ends.

    Without a port nothing that measures is even imported, and without the variables of `env` nothing that traces.
    """
    with ExitStack() as stack:
        narrator = Narrator(log, is_verbose=settings.log_level == "debug")
        observed = Observed(settings, narrator)
        watches: list[Watch] = [narrator]
        if settings.health_port:
            watches.append(stack.enter_context(_measuring(stage, settings, observed, log)))
        exporting = stack.enter_context(tracing(env, log, role=stage))
        if exporting is not None:
            from .tracing.spans import watch_of

            watches.append(watch_of(stage, exporting))
        if len(watches) > 1:
            observed.watch = Watches(*watches)
        yield observed


@contextmanager
def _measuring(
    stage: str, settings: Settings, observed: Observed, log: "Log"
) -> "Iterator[WorkerMetrics]":
    from .health import Answers, listening
    from .metrics import WorkerMetrics

    metrics = WorkerMetrics(stage, observed.vitals)
    answers = Answers(observed.live, observed.ready, metrics.text)
    with listening(settings.health_host, settings.health_port, answers) as port:
        log("health.listening", stage=stage, host=settings.health_host, port=port)
        yield metrics
