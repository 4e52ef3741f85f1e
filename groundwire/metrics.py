"""A worker's metrics for Prometheus: base units, labels from closed lists, never an id."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from threading import Lock

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from bus import Became, Handling, Hop, Vitals

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

COUNTERS = {
    "deliveries": ("Deliveries settled.", "outcome"),
    "dead_letters": ("Dead letters.", "reason"),
    "results": ("Results written.", "outcome"),
}
GAUGES = {
    "groundwire_backlog_entries": ("Unfinished entries of the stage's stream.", "backlog"),
    "groundwire_oldest_entry_seconds": ("Age of the oldest of them.", "oldest_s"),
    "groundwire_delayed_entries": ("Retries that aren't due yet.", "delayed"),
    "groundwire_in_flight_deliveries": ("Deliveries in this worker's hand.", "in_flight"),
}


class Timing:
    """A histogram of seconds. Ours because it is on the path of every delivery: a fifth of the library's cost."""

    def __init__(self) -> None:
        self._counts = [0] * (len(SECONDS) + 1)
        self._sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count a time in its bucket. For one thread."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._sum_s += seconds

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Cumulative, each by its upper bound; and the sum. For any thread."""
        bounds = [*(str(bound) for bound in SECONDS), "+Inf"]
        return list(zip(bounds, accumulate(map(float, self._counts)), strict=True)), self._sum_s


class WorkerMetrics(Collector):
    """The watch of one worker of a stage. `vitals` is asked at each scrape."""

    def __init__(self, stage: str, vitals: Callable[[], Sequence[Vitals]]) -> None:
        self.started: Callable[[Callable[[], Handling]], None] | None = None
        self.is_measuring = True
        self._stage = stage
        self._vitals = vitals
        self._noted: deque[tuple[Became, bool, float, float]] = deque()
        self._counting = Lock()
        self._kinds: dict[tuple[Became, bool], int] = {}
        self._hop, self._handler, self._lag = Timing(), Timing(), Timing()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def settled(self, hop: Hop, /) -> None:
        """Note a delivery; it is counted a little later, among others."""
        self._noted.append((hop.became, hop.is_redelivery, hop.waited_s, hop.handled_s))

    def lagged(self, seconds: float, /) -> None:
        """Time the loop, and count what was noted meanwhile: one by one that costs three times as much."""
        self._lag.observe(seconds)
        self._count()

    def _count(self) -> None:
        with self._counting:
            while self._noted:
                became, is_redelivery, waited_s, handled_s = self._noted.popleft()
                kind = (became, is_redelivery)
                self._kinds[kind] = self._kinds.get(kind, 0) + 1
                self._hop.observe(waited_s + handled_s)
                self._handler.observe(handled_s)

    def text(self) -> tuple[str, bytes]:
        """The content type, and all metrics in the text format."""
        return CONTENT_TYPE, generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """What was counted and timed, and how the streams stand. For any thread."""
        self._count()
        yield from self._counted()
        yield self._timed("hop", "From a message's making to its settling.", self._hop)
        yield self._timed("handler", "In the handler.", self._handler)
        yield self._timed("loop_lag", "How late the loop came round.", self._lag)
        yield from _standing(self._vitals())

    def _counted(self) -> Iterator[Metric]:
        kinds = self._kinds.copy()  # in one step: the loop goes on counting
        by: dict[str, Counter[str]] = {name: Counter() for name in COUNTERS}
        again = 0
        for (became, is_redelivery), count in kinds.items():
            by["deliveries"][became.outcome] += count
            by["dead_letters"][became.reason] += count
            by["results"][became.result] += count
            again += count * is_redelivery
        for name, (about, label) in COUNTERS.items():
            metric = CounterMetricFamily(f"groundwire_{name}", about, labels=["stage", label])
            for value, count in by[name].items():
                if value:
                    metric.add_metric([self._stage, value], count)
            yield metric
        about = "Deliveries settled that had been delivered before."
        metric = CounterMetricFamily("groundwire_redeliveries", about, labels=["stage"])
        metric.add_metric([self._stage], again)
        yield metric

    def _timed(self, name: str, about: str, timing: Timing) -> Metric:
        metric = HistogramMetricFamily(f"groundwire_{name}_seconds", about, labels=["stage"])
        metric.add_metric([self._stage], *timing.buckets())
        return metric


def _standing(seen: Sequence[Vitals]) -> Iterator[Metric]:
    """One value for each stream and lane; the open queries for each lane."""
    for name, (about, field) in GAUGES.items():
        gauge = GaugeMetricFamily(name, about, labels=["stage", "stream", "lane"])
        for one in seen:
            gauge.add_metric([one.stage, one.stream, str(one.lane)], getattr(one, field))
        yield gauge
    opened = GaugeMetricFamily("groundwire_open_queries", "Open queries.", labels=["lane"])
    for lane, count in {str(one.lane): one.open for one in seen}.items():
        opened.add_metric([lane], count)
    yield opened
