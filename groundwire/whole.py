"""The whole system to a probe and to Prometheus: what `groundwire status` knows, kept for whoever asks over HTTP."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bus import SystemStatus

from .metrics import CONTENT_TYPE

STAGES = {
    "groundwire_stage_workers": ("Live workers.", "workers"),
    "groundwire_stage_unattended": ("1 if there is work and no live worker.", "is_unattended"),
    "groundwire_stage_waiting_entries": ("Entries that nobody has taken yet.", "backlog"),
    "groundwire_stage_pending_entries": ("Entries in workers' hands.", "pending"),
    "groundwire_stage_delayed_entries": ("Retries that aren't due yet.", "delayed"),
}


class Whole(Collector):
    """The last status that was read, or why there is none."""

    def __init__(self) -> None:
        self._status: SystemStatus | None = None
        self._fault: str | None = "not read yet"
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def see(self, status: SystemStatus) -> None:
        """Take over what the server said."""
        self._status, self._fault = status, None

    def miss(self, why: str) -> None:
        """It said nothing: the last status is no news any more."""
        self._status, self._fault = None, why

    def ready(self) -> list[str]:
        """Why the whole isn't ready: the server, that of a lane, or stages that have work and no worker."""
        if self._fault is not None:
            return [f"the server: {self._fault}"]
        assert self._status is not None
        unattended = [f"{name} has work and no worker" for name in self._status.unattended_stages]
        return [*map(str, self._status.unreachable), *unattended]

    def text(self) -> tuple[str, bytes]:
        """The content type, and all metrics in the text format."""
        return CONTENT_TYPE, generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """Nothing but whether the server answers, while it doesn't."""
        status = self._status
        up = GaugeMetricFamily("groundwire_server_up", "1 if the server answers.")
        up.add_metric([], float(status is not None))
        return [up, *(_of(status) if status is not None else ())]


def _of(status: SystemStatus) -> Iterable[Metric]:
    for name, (about, field) in STAGES.items():
        gauge = GaugeMetricFamily(name, about, labels=["stage"])
        for stage in status.stages:
            gauge.add_metric([stage.stage], float(getattr(stage, field)))
        yield gauge
    oldest = GaugeMetricFamily(
        "groundwire_stage_oldest_entry_seconds", "Age of the oldest entry.", labels=["stage"]
    )
    for stage in status.stages:
        oldest.add_metric([stage.stage], (stage.oldest_ms or 0) / 1000)
    yield oldest
    if not status.unreachable:
        yield from _counted(status)
    for name, about, value in (
        ("groundwire_queries_open", "Queries that have no result yet.", status.open),
        (
            "groundwire_unreachable_lanes",
            "Lanes whose server doesn't answer: the numbers are those of the others.",
            len(status.unreachable),
        ),
    ):
        one = GaugeMetricFamily(name, about)
        one.add_metric([], value)
        yield one


def _counted(status: SystemStatus) -> Iterable[Metric]:
    """What is looked at for its growth: without a lane's share it would fall, and jump when that is back."""
    ended = CounterMetricFamily("groundwire_queries", "Queries that ended.", labels=["outcome"])
    for outcome, count in status.outcomes.items():
        ended.add_metric([outcome], count)
    yield ended
    accepted = CounterMetricFamily("groundwire_queries_accepted", "Queries accepted.")
    accepted.add_metric([], status.accepted)
    yield accepted
    dead = GaugeMetricFamily("groundwire_dead_letter_records", "Dead letters that are kept.")
    dead.add_metric([], status.dead)
    yield dead
