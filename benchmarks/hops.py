"""What a hop costs: five agents that do nothing, on the bus and as a bare redis-py loop, in turns on one server.

`python -m benchmarks.hops [--json] [--seconds N] [--processes five|one|both]`. The sides take turns, so that what the
machine does meanwhile meets both; figures are medians of the turns, and ratios are of one run. On a busy machine
`cpu_ratio` moves least: CPU of bare by CPU of ours, server and client included, which is what the throughput ratio
comes to where CPU is all that limits.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import redis
from rich.console import Console
from rich.table import Table

from groundwire.embedded import temporary_server

from .chain import STAGES, Chain, Crew, cpu_s, running
from .child import RESULTS

GROUPS = {"five": [[name] for name in STAGES], "one": [list(STAGES)]}
_WARM_UP = 200
_TURNS = 5
_LONGEST_TURN_S = 4.0
_STUCK_S = 20.0
_ASKED_AT = re.compile(rb'"query_id":"([^"]+)","session_id":"(\d+)"')


@dataclass(frozen=True)
class Turn:
    """One side's turn: a burst, and queries one at a time. `cpu_ms` is of one query in the burst, all hops."""

    queries_per_s: float
    published_per_s: float
    cpu_ms: dict[str, float]
    saturated_ms: list[float]
    single_ms: list[float]


class Bench:
    """A server and a reader of results."""

    def __init__(self, url: str, pid: int) -> None:
        self._r = redis.Redis.from_url(url)
        self._pid = pid
        self.version = str(self._r.info("server").get("valkey_version", "?"))

    def turn(self, chain: Chain, burst: int, single: int) -> Turn:
        """Let one side work, the other frozen."""
        with chain.awake():
            self.drain(chain, _WARM_UP // 4)
            before = self.cpu_s(chain)
            started = time.monotonic()
            times, published_s = self.drain(chain, burst)
            seconds = time.monotonic() - started
            after = self.cpu_s(chain)
            chain.order("single", single)
            single_ms = chain.answer()
        return Turn(
            queries_per_s=burst / seconds,
            published_per_s=burst / published_s,
            cpu_ms={name: (after[name] - before[name]) * 1000 / burst for name in after},
            saturated_ms=times,
            single_ms=single_ms[len(single_ms) // 10 :],
        )

    def pace(self, chain: Chain) -> float:
        """Queries per second of a short burst, after one to warm up."""
        with chain.awake():
            self.drain(chain, _WARM_UP)
            started = time.monotonic()
            self.drain(chain, _WARM_UP)
            return _WARM_UP / (time.monotonic() - started)

    def drain(self, chain: Crew, count: int) -> tuple[list[float], float]:
        """Publish `count`; milliseconds from publishing to result of each, seconds of publishing."""
        stream = RESULTS[chain.side]
        found: Any = self._r.xrevrange(stream, count=1)
        last = found[0][0] if found else b"0"
        chain.order("burst", count)
        times: dict[bytes, float] = {}
        progress = time.monotonic()
        while len(times) < count:
            reply: Any = self._r.xread({stream: last}, count=1000, block=1000)
            now = time.monotonic()
            for entry_id, fields in reply[0][1] if reply else []:
                last = entry_id
                match = _ASKED_AT.search(fields[b"event"])
                assert match, "not a result"
                assert match[1] not in times, "a result twice"
                times[match[1]] = now * 1000 - int(match[2]) / 1e6
                progress = now
            if now - progress > _STUCK_S:
                raise SystemExit(f"{chain.side}: {count - len(times)} results are missing")
        return list(times.values()), chain.answer()

    def cpu_s(self, chain: Crew) -> dict[str, float]:
        """CPU seconds so far, of the workers together, of the client and of the server."""
        return {**chain.cpu_s(), "server": cpu_s(self._pid)}


def measure(bench: Bench, url: str, processes: str, until: float) -> dict[str, Any]:
    """Both sides in turns until the monotonic time `until`; the report of this arrangement."""
    with running(url, GROUPS[processes]) as chains:
        pace = min(bench.pace(chain) for chain in chains)
        slot_s = min(_LONGEST_TURN_S, (until - time.monotonic()) / (2 * _TURNS))
        # About two thirds of a turn for the burst, at the slower side's pace; the rest for single ones, at 8 ms.
        burst, single = max(100, int(pace * slot_s * 0.6)), max(20, int(slot_s * 0.3 / 0.008))
        done: dict[str, list[Turn]] = {chain.side: [] for chain in chains}
        longest_s = 0.0
        while not done["bare"] or time.monotonic() + longest_s < until:
            started = time.monotonic()
            for chain in chains:
                say(f"{processes}: turn {len(done[chain.side]) + 1}, {chain.side}, {burst} queries")
                done[chain.side].append(bench.turn(chain, burst, single))
            longest_s = max(longest_s, time.monotonic() - started)
            chains.reverse()
    sides = {side: summary(of_side) for side, of_side in done.items()}
    ours, bare = sides["ours"], sides["bare"]
    return {
        "queries": burst,
        "turns": len(done["bare"]),
        "throughput_ratio": ours["queries_per_s"] / bare["queries_per_s"],
        "p50_ratio": ours["single_ms"]["p50"] / bare["single_ms"]["p50"],
        "cpu_ratio": sum(bare["cpu_ms"].values()) / sum(ours["cpu_ms"].values()),
        **sides,
    }


def summary(turns: Sequence[Turn]) -> dict[str, Any]:
    """Medians over the turns."""
    rows = [asdict(turn) for turn in turns]
    for row in rows:
        row["saturated_ms"] = quantiles(row["saturated_ms"])
        row["single_ms"] = quantiles(row["single_ms"])
    return {key: median_of([row[key] for row in rows]) for key in rows[0]}


def median_of(values: Sequence[Any]) -> Any:
    """The median of numbers, or of mappings of numbers key by key."""
    if isinstance(values[0], dict):
        return {key: median_of([value[key] for value in values]) for key in values[0]}
    return round(statistics.median(values), 3)


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98]}


def rows_of(report: dict[str, Any]) -> Iterator[list[str]]:
    """The report's lines: arrangement and side, rates, latencies, CPU."""
    for processes, found in report["processes"].items():
        for side in ("ours", "bare"):
            of = found[side]
            yield [
                f"{processes}, {side}",
                f"{of['queries_per_s']:,.0f}",
                f"{of['published_per_s']:,.0f}",
                " / ".join(f"{value:.1f}" for value in of["single_ms"].values()),
                " / ".join(f"{value:,.0f}" for value in of["saturated_ms"].values()),
                " / ".join(f"{value:.2f}" for value in of["cpu_ms"].values()),
            ]
        ratios = [f"{found['throughput_ratio']:.2f}", "", f"{found['p50_ratio']:.2f} (p50)", ""]
        ratios.append(f"{found['cpu_ratio']:.2f} (bare / ours)")
        yield [f"{processes}, ratio", *ratios]


def show(report: dict[str, Any]) -> None:
    """Print the table."""
    table = Table(title=f"Five hops, {report['server']}, medians")
    for heading in ("processes, side", "queries/s", "published/s", "one in flight, ms"):
        table.add_column(heading)
    table.add_column("saturated, ms")
    table.add_column("CPU ms/query (workers / client / server)")
    for row in rows_of(report):
        table.add_row(*row)
    Console(width=120).print(table, "Latencies are p50 / p95 / p99, end to end.")


def say(line: str) -> None:
    """Progress, beside the output."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hops", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the report as JSON, not as a table")
    parser.add_argument("--seconds", type=float, default=45.0, help="of the whole run, about")
    parser.add_argument("--processes", choices=["five", "one", "both"], default="both")
    options = parser.parse_args()
    names = ["five", "one"] if options.processes == "both" else [options.processes]
    started = time.monotonic()
    report: dict[str, Any] = {"processes": {}}
    with temporary_server() as server:
        assert server.pid
        bench = Bench(server.url, server.pid)
        report["server"] = f"Valkey {bench.version}"
        for share, name in zip((0.65 if len(names) > 1 else 1.0, 1.0), names, strict=False):
            until = started + options.seconds * share
            report["processes"][name] = measure(bench, server.url, name, until)
            server.flush()
    first = report["processes"][names[0]]
    report |= {key: first[key] for key in ("throughput_ratio", "p50_ratio", "cpu_ratio")}
    report["seconds"] = round(time.monotonic() - started, 1)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
