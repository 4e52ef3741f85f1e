"""What observing costs: five agents that do nothing, observed and not, by turns in the same processes.

`python -m benchmarks.observed [--json] [--seconds N] [--sides told,observed,unsampled,sampled,traced]`. `told`: logs
at level info; `observed`: metrics besides; `sampled`: and traces of one query in a hundred, sent to a collector that
throws them away; `unsampled`: of none; `traced`: of all. Two groups of processes of the very same code differ by more
than what is measured: so the sides are the same six, which change between bursts of half a second who watches them.
Each is compared with `plain`, which nobody watches, of the same round. A round holds about 5 s of work of each side,
and at its end one export, as the library makes one every 5 s.
"""

import argparse
import json
import math
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rich.console import Console
from rich.table import Table

from groundwire.embedded import temporary_server

from .chain import STAGES, Crew, await_ready, start
from .child import die_with_parent
from .hops import Bench, say
from .watched import BE, END, PLAIN, SIDES, run_client, run_stage

_PARTS = ("workers", "client", "server")


class Collector(BaseHTTPRequestHandler):
    """Takes spans and forgets them."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Any path."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Silent."""


@contextmanager
def collecting() -> Iterator[None]:
    """A collector in a process of its own, where the standard variable says."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)

    def serve() -> None:
        die_with_parent()
        server.serve_forever()

    process = multiprocessing.get_context("fork").Process(target=serve, daemon=True)
    process.start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
    try:
        yield
    finally:
        process.kill()
        process.join()
        server.server_close()


@dataclass(frozen=True)
class Spent:
    """What a side's bursts of a round took; added up, what more bursts did."""

    queries: int = 0
    seconds: float = 0.0
    cpu_s: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(_PARTS, 0.0))

    def __add__(self, other: "Spent") -> "Spent":
        cpu_s = {of: self.cpu_s[of] + other.cpu_s[of] for of in _PARTS}
        return Spent(self.queries + other.queries, self.seconds + other.seconds, cpu_s)

    @property
    def queries_per_s(self) -> float:
        """Throughput."""
        return self.queries / self.seconds

    @property
    def cpu_us(self) -> dict[str, float]:
        """CPU of a query, of all processes and by part."""
        parts = {of: spent_s * 1e6 / self.queries for of, spent_s in self.cpu_s.items()}
        return {"all": sum(parts.values()), **parts}


class Switched(Crew):
    """Five workers and a client that are observed as they are told."""

    def __init__(self, bench: Bench, url: str) -> None:
        self._bench = bench
        workers = [start(run_stage, url, name) for name in STAGES]
        client = start(run_client, url)
        self._pipes = [pipe for _, pipe in (*workers, client)]
        super().__init__("ours", workers, client)

    def burst(self, side: str, queries: int) -> Spent:
        """Be observed as a side for so many queries."""
        self._tell(BE, side)
        return self._spend(lambda: self._bench.drain(self, queries), queries)

    def end(self, side: str) -> Spent:
        """Let go of a side: what it didn't export yet goes out."""
        return replace(self._spend(lambda: self._tell(END, side), 0), seconds=0.0)

    def _spend(self, run: Callable[[], object], queries: int) -> Spent:
        before, started = self._bench.cpu_s(self), time.monotonic()
        run()
        seconds, after = time.monotonic() - started, self._bench.cpu_s(self)
        return Spent(queries, seconds, {of: after[of] - before[of] for of in _PARTS})

    def _tell(self, what: str, side: str) -> None:
        for pipe in self._pipes:
            pipe.send((what, side))
        for pipe in self._pipes:
            await_ready(pipe)


def measure(
    crew: Switched, seconds: float, shape: tuple[int, int], sides: Sequence[str]
) -> list[dict[str, Spent]]:
    """Rounds for about so long, each of so many bursts of so many queries a side; the first isn't counted."""
    started = time.monotonic()
    rounds: list[dict[str, Spent]] = []
    longest_s = 0.0
    while len(rounds) < 2 or time.monotonic() + longest_s < started + seconds:
        begun = time.monotonic()
        rounds.append(round_of(crew, shape, [PLAIN, *sides]))
        longest_s = max(longest_s, time.monotonic() - begun)
        say(f"round {len(rounds) - 1}: {longest_s:.1f} s")
    return rounds[1:]


def round_of(crew: Switched, shape: tuple[int, int], sides: Sequence[str]) -> dict[str, Spent]:
    """Bursts of all sides in turns, every other time backwards; then each side exports what it has."""
    bursts, queries = shape
    spent = dict.fromkeys(sides, Spent())
    for number in range(bursts):
        for side in sides if number % 2 else reversed(sides):
            spent[side] += crew.burst(side, queries)
    return {side: spent[side] + crew.end(side) for side in sides}


def report_of(rounds: Sequence[Mapping[str, Spent]], side: str) -> dict[str, Any]:
    """Medians of a side, and of its differences to what nobody observed in the same round."""
    pairs = [(spent[side], spent[PLAIN]) for spent in rounds]
    more_us = {
        of: spread([own.cpu_us[of] - plain.cpu_us[of] for own, plain in pairs])
        for of in ("all", *_PARTS)
    }
    return {
        "queries_per_s": round(statistics.median(own.queries_per_s for own, _ in pairs), 1),
        "cpu_us": round(statistics.median(own.cpu_us["all"] for own, _ in pairs), 1),
        "more_us": more_us,
        "more_cpu": spread(
            [own.cpu_us["all"] / plain.cpu_us["all"] - 1 for own, plain in pairs], 4
        ),
        "less_throughput": spread(
            [1 - own.queries_per_s / plain.queries_per_s for own, plain in pairs], 4
        ),
    }


def spread(values: Sequence[float], digits: int = 1) -> dict[str, float]:
    """The median, and the ranks between which it lies in 19 of 20 cases, however they are spread; of few, the ends."""
    ordered = sorted(values)
    reach = max(0, math.floor(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))))
    found = (statistics.median(ordered), ordered[reach], ordered[-1 - reach])
    return {name: round(value, digits) for name, value in zip(_OF, found, strict=True)}


_OF = ("median", "low", "high")


def show(report: Mapping[str, Any]) -> None:
    """Print the table."""
    table = Table(
        title=f"Five processes, {report['server']}, {report['rounds']} rounds: medians (95 % intervals)"
    )
    for heading in ("side", "queries/s", "CPU, µs a query", "more", "in %", "less throughput"):
        table.add_column(heading)
    table.add_column("more of workers / client / server")
    for side, of in report["sides"].items():
        table.add_row(
            *(side, f"{of['queries_per_s']:,.0f}", f"{of['cpu_us']:.0f}"),
            *(_spread(of["more_us"]["all"]), _spread(of["more_cpu"], 100)),
            _spread(of["less_throughput"], 100),
            " / ".join(f"{of['more_us'][part]['median']:.1f}" for part in _PARTS),
        )
    Console(width=150).print(table)


def _spread(of: Mapping[str, float], times: float = 1.0) -> str:
    median, low, high = (of[name] * times for name in _OF)
    return f"{median:.1f} ({low:.1f} to {high:.1f})"


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.observed", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the report as JSON, not as a table")
    parser.add_argument("--seconds", type=float, default=280.0, help="of the rounds, about")
    parser.add_argument("--bursts", type=int, default=12, help="of each side in a round")
    parser.add_argument("--queries", type=int, default=1_000, help="of a burst")
    parser.add_argument("--sides", default="observed,sampled", help=f"of {', '.join(SIDES)}")
    options = parser.parse_args()
    sides = options.sides.split(",")
    os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "3600000"  # the end of a round exports
    with temporary_server() as server, collecting():
        assert server.pid
        bench = Bench(server.url, server.pid)
        crew = Switched(bench, server.url)
        try:
            rounds = measure(crew, options.seconds, (options.bursts, options.queries), sides)
        finally:
            crew.kill()
    report = {
        "server": f"Valkey {bench.version}",
        "queries": options.queries * options.bursts,
        "rounds": len(rounds),
        "sides": {side: report_of(rounds, side) for side in (PLAIN, *sides)},
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
