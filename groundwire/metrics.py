"""A worker's metrics for Prometheus: base units, labels from closed lists, never an id."""

from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bus import Hop, Vitals

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

GAUGES = {
    "groundwire_backlog_entries": ("Unfinished entries of the stage's stream.", "backlog"),
    "groundwire_oldest_entry_seconds": ("Age of the oldest of them.", "oldest_s"),
    "groundwire_delayed_entries": ("Retries that aren't due yet.", "delayed"),
    "groundwire_in_flight_deliveries": ("Deliveries in this worker's hand.", "in_flight"),
}


class WorkerMetrics:
    """The watch of one worker of a stage. `vitals` is asked at each scrape."""

    def __init__(self, stage: str, vitals: Callable[[], Sequence[Vitals]]) -> None:
        registry = self._registry = CollectorRegistry()
        self._stage = stage
        self._deliveries = _counter(registry, "deliveries", "Deliveries settled.", "outcome")
        self._dead = _counter(registry, "dead_letters", "Dead letters.", "reason")
        self._results = _counter(registry, "results", "Results written.", "outcome")
        self._again = _counter(registry, "redeliveries", "Settled, delivered before.").labels(stage)
        self._hop = _histogram(registry, "hop", "From a message's making to its settling.", stage)
        self._handler = _histogram(registry, "handler", "In the handler.", stage)
        self._lag = _histogram(registry, "loop_lag", "How late the loop came round.", stage)
        self._counted: dict[tuple[str, str, str], tuple[Counter, ...]] = {}
        registry.register(_Standing(stage, vitals))

    def settled(self, hop: Hop, /) -> None:
        """Count and time a delivery."""
        kind = (hop.outcome, hop.reason, hop.result)
        counters = self._counted.get(kind)
        if counters is None:
            counters = self._counted[kind] = self._of(*kind)
        for counter in counters:
            counter.inc()
        if hop.is_redelivery:
            self._again.inc()
        self._hop.observe(hop.waited_s + hop.handled_s)
        self._handler.observe(hop.handled_s)

    def lagged(self, seconds: float, /) -> None:
        """Time the loop."""
        self._lag.observe(seconds)

    def text(self) -> tuple[str, bytes]:
        """The content type, and all metrics in the text format."""
        return CONTENT_TYPE, generate_latest(self._registry)

    def _of(self, outcome: str, reason: str, result: str) -> tuple[Counter, ...]:
        """The counters of one kind of settling, found once."""
        found = [self._deliveries.labels(self._stage, outcome)]
        if reason:
            found.append(self._dead.labels(self._stage, reason))
        if result:
            found.append(self._results.labels(self._stage, result))
        return tuple(found)


def _counter(registry: CollectorRegistry, name: str, about: str, *labels: str) -> Counter:
    return Counter(f"groundwire_{name}", about, ["stage", *labels], registry=registry)


def _histogram(registry: CollectorRegistry, name: str, about: str, stage: str) -> Histogram:
    named = f"groundwire_{name}_seconds"
    return Histogram(named, about, ["stage"], registry=registry, buckets=SECONDS).labels(stage)


class _Standing(Collector):
    """What stands in the streams, as the worker last saw it."""

    def __init__(self, stage: str, vitals: Callable[[], Sequence[Vitals]]) -> None:
        self._stage = stage
        self._vitals = vitals

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """One value for each stream and lane; the open queries for each lane."""
        seen = self._vitals()
        for name, (about, field) in GAUGES.items():
            gauge = GaugeMetricFamily(name, about, labels=["stage", "stream", "lane"])
            for one in seen:
                gauge.add_metric([one.stage, one.stream, str(one.lane)], getattr(one, field))
            yield gauge
        opened = GaugeMetricFamily("groundwire_open_queries", "Open queries.", labels=["lane"])
        for lane, count in {str(one.lane): one.open for one in seen}.items():
            opened.add_metric([lane], count)
        yield opened
