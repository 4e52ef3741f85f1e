"""What observing costs: five agents that do nothing, observed and not, in turns on one server.

`python -m benchmarks.observed [--json] [--seconds N] [--sides told,observed,sampled,traced]`. `told`: logs at level
info; `observed`: metrics besides; `sampled`: and traces of one query in a hundred; `traced`: of all, sent to a
collector that throws them away. Ratios are to the bus without any of it, in the same round; figures are medians.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rich.console import Console
from rich.table import Table

from groundwire.embedded import temporary_server

from .chain import running
from .child import die_with_parent
from .hops import GROUPS, Bench, Turn, say
from .watched import SIDES

_BURST = 2_500
_SINGLE = 60
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


def measure(bench: Bench, url: str, seconds: float, watched: Sequence[str]) -> dict[str, Any]:
    """All sides in turns for so long; each beside the one that isn't observed."""
    sides = ("ours", *watched)
    started = time.monotonic()
    rounds: list[dict[str, Turn]] = []
    with running(url, GROUPS["five"], sides) as chains:
        for chain in chains:
            bench.pace(chain)  # warm
        longest_s = 0.0
        while not rounds or time.monotonic() + longest_s < started + seconds:
            begun = time.monotonic()
            say(f"round {len(rounds) + 1}: {_BURST} queries a side")
            rounds.append({chain.side: bench.turn(chain, _BURST, _SINGLE) for chain in chains})
            longest_s = max(longest_s, time.monotonic() - begun)
            chains.reverse()
    return {
        "queries": _BURST,
        "rounds": len(rounds),
        "sides": {side: _of_side(rounds, side) for side in sides},
    }


def _of_side(rounds: Sequence[Mapping[str, Turn]], side: str) -> dict[str, float]:
    def median(values: Iterator[float]) -> float:
        return round(statistics.median(values), 3)

    def cpu_ms(turn: Turn) -> float:
        return sum(turn.cpu_ms.values())

    pairs = [(turns[side], turns["ours"]) for turns in rounds]
    return {
        "queries_per_s": median(turn.queries_per_s for turn, _ in pairs),
        "throughput_ratio": median(
            turn.queries_per_s / plain.queries_per_s for turn, plain in pairs
        ),
        "cpu_ms": median(cpu_ms(turn) for turn, _ in pairs),
        **{f"{of}_cpu_ms": median(turn.cpu_ms[of] for turn, _ in pairs) for of in _PARTS},
        "cpu_ratio": median(cpu_ms(turn) / cpu_ms(plain) for turn, plain in pairs),
        "single_p50_ms": median(statistics.median(turn.single_ms) for turn, _ in pairs),
    }


def show(report: Mapping[str, Any]) -> None:
    """Print the table."""
    table = Table(title=f"Five processes, {report['server']}, medians of {report['rounds']} rounds")
    for heading in (
        *("side", "queries/s", "to ours", "CPU ms/query (workers / client / server)", "to ours"),
        "one in flight, ms",
    ):
        table.add_column(heading)
    for side, of in report["sides"].items():
        table.add_row(
            *(side, f"{of['queries_per_s']:,.0f}", f"{of['throughput_ratio']:.3f}"),
            " / ".join(f"{of[f'{part}_cpu_ms']:.3f}" for part in _PARTS),
            *(f"{of['cpu_ratio']:.3f}", f"{of['single_p50_ms']:.2f}"),
        )
    Console(width=100).print(table)


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.observed", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the report as JSON, not as a table")
    parser.add_argument("--seconds", type=float, default=90.0, help="of the turns, about")
    parser.add_argument("--sides", default=",".join(SIDES), help="which of them")
    options = parser.parse_args()
    with temporary_server() as server, collecting():
        assert server.pid
        bench = Bench(server.url, server.pid)
        report = measure(bench, server.url, options.seconds, options.sides.split(","))
    report |= {"server": f"Valkey {bench.version}"}
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
