"""Four lanes against one: agents that do nothing, one worker a stage and lane, on one server or on a cluster.

`python -m benchmarks.lanes [--queries 6000] [--rounds 3] [--cluster] [--lanes N --workers N] [--json]`. Three
arrangements, one after another, each on a server (or cluster) of its own: one lane and one worker a stage, one lane
and four, four lanes and four. In each round all queries are submitted at once and the time runs until none is open;
figures are medians of the rounds. Losses and doubles are counted from the result streams, apart from `verify`.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from bus import Bus, BusConfig, UrlBackend
from contracts import Query
from groundwire.embedded import temporary_server
from groundwire.embedded.several import temporary_cluster

from .crew import crew

ARRANGEMENTS: tuple[tuple[int, int], ...] = ((1, 1), (1, 4), (4, 4))
"""Lanes, workers of each stage."""
_CHUNK = 400
_POLL_S = 0.02
_WARM_UP = 400


@dataclass(frozen=True)
class Figures:
    """Of one arrangement."""

    lanes: int
    workers: int
    queries_per_s: float
    accepted: int
    lost: int
    doubled: int
    verify: bool


def limits(lanes: int) -> BusConfig:
    """The bus's own, but for how much may pile up."""
    return BusConfig(lanes=lanes, open_mark=1_000_000)


async def measure(url: str, lanes: int, count: int, queries: int, rounds: int) -> Figures:
    """One arrangement."""
    config = limits(lanes)
    async with crew(url, config, count), Bus(UrlBackend(url), config) as bus:
        ids = await _drain(bus, _WARM_UP, 0)
        rates = []
        for number in range(1, rounds + 1):
            started = time.monotonic()
            ids += await _drain(bus, queries, number)
            rates.append(queries / (time.monotonic() - started))
        found = await bus.verify()
        results = await _results(bus, sum(sum(lane.outcomes.values()) for lane in found))
    return Figures(
        lanes,
        count,
        queries_per_s=round(statistics.median(rates), 1),
        accepted=len(ids),
        lost=len(set(ids) - results.keys()),
        doubled=sum(times - 1 for times in results.values()),
        verify=all(lane.holds and not lane.open for lane in found),
    )


async def _drain(bus: Bus, queries: int, number: int) -> list[str]:
    """Submit so many and wait until none is open; their ids."""
    ids: list[str] = []
    for first in range(0, queries, _CHUNK):
        chunk = range(first, min(queries, first + _CHUNK))
        asked = [Query(text="What is it?", session_id=f"{number}-{n}") for n in chunk]
        ids += await bus.submit_many(asked)
    while sum(lane.open for lane in await bus.verify()):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_S)
    return ids


async def _results(bus: Bus, count: int) -> Counter[str]:
    """Whose the results are: all of them, in every lane."""
    found: Counter[str] = Counter()
    async for result in bus.results(after="0"):
        found[result.response.query_id] += 1
        if found.total() == count:
            break
    return found


@contextmanager
def server(*, clustered: bool) -> Iterator[str]:
    """The URL of a server, or of a cluster."""
    if clustered:
        with temporary_cluster() as cluster:
            yield cluster.url
    else:
        with temporary_server() as one:
            yield one.url


def show(report: list[Figures], base: float) -> None:
    """Print the table."""
    table = Table(title="Five hops, all queries at once")
    for heading in ("lanes", "workers a stage", "queries/s", "of the first", "accepted"):
        table.add_column(heading, justify="right")
    for heading in ("lost", "doubled", "verify"):
        table.add_column(heading, justify="right")
    for of in report:
        rates = (f"{of.queries_per_s:,.0f}", f"{of.queries_per_s / base:.2f}")
        counted = (str(of.accepted), str(of.lost), str(of.doubled))
        table.add_row(str(of.lanes), str(of.workers), *rates, *counted, str(of.verify))
    Console(width=110).print(table)


def main() -> int:
    """Measure and report; 1 if anything was lost or doubled."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lanes", description=__doc__)
    parser.add_argument("--queries", type=int, default=6_000, help="a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cluster", action="store_true", help="three primaries, a replica each")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lanes", type=int, help="of one arrangement instead of the three")
    parser.add_argument("--workers", type=int, default=1, help="of each stage in it")
    options = parser.parse_args()
    arrangements = ARRANGEMENTS
    if options.lanes is not None:
        arrangements = ((options.lanes, options.workers),)
    report = []
    for lanes, count in arrangements:
        print(f"{lanes} lanes, {count} workers a stage", file=sys.stderr, flush=True)
        with server(clustered=options.cluster) as url:
            report.append(asyncio.run(measure(url, lanes, count, options.queries, options.rounds)))
    base = report[0].queries_per_s
    if options.json:
        of_all = [asdict(of) | {"ratio": round(of.queries_per_s / base, 2)} for of in report]
        print(json.dumps({"cluster": options.cluster, "arrangements": of_all}, indent=2))
    else:
        show(report, base)
    return int(any(of.lost or of.doubled or not of.verify for of in report))


if __name__ == "__main__":
    sys.exit(main())
