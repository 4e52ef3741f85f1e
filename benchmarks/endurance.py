"""A million queries through five agents that do nothing: is memory flat, and does every query end once?

`python -m benchmarks.endurance [--queries 1000000] [--looks 10] [--json]`. Five worker processes, one client, one
server, with the bus's own limits. What is kept on purpose doesn't count as growth: result and idempotency keys live for
a few seconds here (`--kept`; an hour and a day by default) and are gone before memory is looked at; the streams of
results and events are full, at their caps, before the first look if that comes after 100,000 queries. `slope` is by
least squares over the looks, in MB per 100,000 queries.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import redis.asyncio as aioredis
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from bus import BusConfig, UrlBackend
from bus.client import Bus
from contracts import TOPOLOGY, Query
from groundwire.embedded import temporary_server

from .crew import crew
from .resident import memory_of

QUERIES = 1_000_000
_CHUNK = 100
_AHEAD = 5_000
_PAUSE_S = 0.05
_STUCK_S = 60.0


def limits(kept_s: float) -> BusConfig:
    """The bus's own, but for how long results and idempotency keys are kept."""
    return BusConfig(result_ttl_s=kept_s, idempotency_ttl_s=kept_s)


async def measure(queries: int, steps: int, kept_s: float, progress: Progress) -> dict[str, Any]:
    """Put all through, and look at memory after each of so many equal steps."""
    looks: list[dict[str, float]] = []
    task = progress.add_task("queries", total=queries)
    async with AsyncExitStack() as stack:
        server = stack.enter_context(temporary_server())
        of_stage = await stack.enter_async_context(crew(server.url, limits(kept_s)))
        pids = {stage: pid for stage, [pid] in of_stage.items()} | {"client": os.getpid()}
        r = await stack.enter_async_context(aioredis.Redis.from_url(server.url))
        bus = await stack.enter_async_context(Bus(UrlBackend(server.url), limits(kept_s)))
        busy_s = 0.0
        for look in range(1, steps + 1):
            started = time.monotonic()
            async for ended in _put_through(bus, queries * look // steps):
                progress.update(task, completed=ended)
            busy_s += time.monotonic() - started
            looks.append(await _look(r, pids))
        [law] = await bus.verify()
    return {
        "queries": queries,
        "queries_per_s": round(queries / busy_s),
        "verified": law.holds,
        "answered": law.outcomes["answered"],
        "looks_mb": looks,
        "slope_mb": {
            name: _slope([one[name] for one in looks], queries // steps) for name in looks[0]
        },
    }


async def _put_through(bus: Bus, until: int) -> AsyncIterator[int]:
    """Submit until so many are accepted, never `_AHEAD` ahead of the workers; yields how many ended."""
    progressed = time.monotonic()
    before = -1
    while True:
        [law] = await bus.verify()
        ended = law.accepted - law.open
        yield ended
        if ended == until:
            return
        if ended > before:
            before, progressed = ended, time.monotonic()
        elif time.monotonic() - progressed > _STUCK_S:
            raise SystemExit(f"{law.open} queries are open and none has ended for {_STUCK_S:g} s")
        room = min(until - law.accepted, _AHEAD - law.open)
        if law.accepted == until or room < min(_CHUNK, until - law.accepted):
            await asyncio.sleep(_PAUSE_S)
        for first in range(0, room, _CHUNK):
            await bus.submit_many(list(map(_query, range(first, min(room, first + _CHUNK)))))


def _query(number: int) -> Query:
    return Query(text="What is the refund policy for annual plans?", session_id=str(number))


async def _look(r: "aioredis.Redis", pids: dict[str, int]) -> dict[str, float]:
    """Megabytes in use, once the keys that are kept for a while are gone."""
    # Each worker has a key that says it lives. The server tells nobody that the rest has expired.
    while await _expiring(r) > len(TOPOLOGY.stages):  # noqa: ASYNC110
        await asyncio.sleep(_PAUSE_S)
    await r.memory_purge()
    told: Any = await r.info("memory")
    resident = {name: memory_of(pid)["resident"] for name, pid in pids.items()}
    return {**resident, "server": round(int(told["used_memory"]) / 1e6, 2)}


async def _expiring(r: "aioredis.Redis") -> int:
    told: Any = await r.info("keyspace")
    return int(told.get("db0", {}).get("expires", 0))


def _slope(values: Sequence[float], step: int) -> float:
    """MB per 100,000 queries, by least squares over equal steps."""
    steps = range(len(values))
    middle, mean = sum(steps) / len(values), sum(values) / len(values)
    rise = sum((x - middle) * (y - mean) for x, y in zip(steps, values, strict=True))
    per_step = rise / sum((x - middle) ** 2 for x in steps)
    return round(per_step * 100_000 / step, 3)


def main() -> None:
    """Measure and report; exit code 1 unless every query ended once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--looks", type=int, default=10)
    parser.add_argument("--kept", type=float, default=5.0, help="seconds that results are kept")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as progress:
        report = asyncio.run(measure(options.queries, options.looks, options.kept, progress))
    if options.json:
        print(json.dumps(report))
    else:
        show(report)
    sys.exit(report["answered"] != options.queries or not report["verified"])


def show(report: dict[str, Any]) -> None:
    """Print the looks, a line each, and the slopes."""
    names = list(report["slope_mb"])
    print(f"{'queries':>12} " + " ".join(f"{name:>11}" for name in names) + "   MB")
    for number, one in enumerate(report["looks_mb"], start=1):
        done = report["queries"] * number // len(report["looks_mb"])
        print(f"{done:>12,} " + " ".join(f"{one[name]:>11}" for name in names))
    slopes = " ".join(f"{report['slope_mb'][name]:>11}" for name in names)
    print(f"{'per 100,000':>12} {slopes}")
    law = "exact" if report["verified"] else "BROKEN"
    print(f"{report['answered']:,} answered, {report['queries_per_s']:,} a second, verify {law}")


if __name__ == "__main__":
    main()
