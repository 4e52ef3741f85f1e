"""One side's turn: its processes start, a burst and single queries run through them, and they are killed."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import redis

from .message import HOPS
from .process import query_id_in, run_client, run_hop
from .sides import Side

_CONTEXT = multiprocessing.get_context("fork")  # the parent has no threads
_START_S, _STUCK_S, _SETTLE_S = 60.0, 30.0, 1.0
_WARM_SINGLE = 30


@dataclass(frozen=True)
class Plan:
    """How long a side's turn may take, start included."""

    seconds: float

    def burst_of(self, pace: float) -> int:
        """Queries that take about half a turn at this pace."""
        return max(50, int(pace * self.seconds * 0.5))

    @property
    def warm_up(self) -> int:
        """Queries nobody measures, before the others."""
        return min(200, max(20, int(self.seconds * 20)))

    @property
    def singles(self) -> int:
        """Queries one at a time that take about a quarter of a turn at 12 ms."""
        return max(20, int(self.seconds * 0.25 / 0.012))


@dataclass(frozen=True)
class Turn:
    """What a side did: queries per second of the burst, milliseconds of each single query."""

    queries: int
    queries_per_s: float
    repeated: int
    single_ms: list[float]


class Reader:
    """Reads results, the same way for every side."""

    def __init__(self, url: str) -> None:
        self._r = redis.Redis.from_url(url)
        self.version = str(self._r.info("server").get("valkey_version", "?"))

    def drain(self, side: Side, client: Connection, count: int) -> tuple[float, int]:
        """Have `count` published; seconds from the first publish to the last result, and repeated results."""
        found: Any = self._r.xrevrange(side.results, count=1)
        last, seen, read = found[0][0] if found else b"0", set[bytes](), 0
        client.send(("burst", count))
        progress = time.monotonic()
        while len(seen) < count:
            reply: Any = self._r.xread({side.results: last}, count=1000, block=1000)
            if reply:
                progress, entries = time.monotonic(), reply[0][1]
                last, read = entries[-1][0], read + len(entries)
                seen.update(query_id_in(fields) for _, fields in entries)
            elif time.monotonic() - progress > _STUCK_S:
                raise SystemExit(f"{side.module}: {count - len(seen)} results are missing")
        return progress - client.recv(), read - len(seen)


def take(reader: Reader, url: str, side: Side, plan: Plan, burst: int | None) -> Turn:
    """Run a turn; the size of its burst is that of the side's first turn, or found by a short one."""
    with _running(url, side) as client:
        reader.drain(side, client, plan.warm_up)
        if burst is None:
            seconds, _ = reader.drain(side, client, plan.warm_up)
            # A burst that short is over before all hops are busy: ask again with a longer one.
            longer = Plan(plan.seconds / 5).burst_of(plan.warm_up / seconds)
            seconds, _ = reader.drain(side, client, longer)
            burst = plan.burst_of(longer / seconds)
        seconds, repeated = reader.drain(side, client, burst)
        client.send(("single", _WARM_SINGLE + plan.singles))
        return Turn(burst, burst / seconds, repeated, client.recv()[_WARM_SINGLE:])


@contextmanager
def _running(url: str, side: Side) -> Iterator[Connection]:
    processes: list[BaseProcess] = []
    pipes: list[Connection] = []

    def start(run: Callable[..., None], *args: object) -> None:
        ours, theirs = _CONTEXT.Pipe()
        processes.append(_CONTEXT.Process(target=run, args=(*args, theirs), daemon=True))
        pipes.append(ours)
        processes[-1].start()
        theirs.close()

    try:
        for hop in range(HOPS):
            start(run_hop, url, side, hop)
        for pipe in pipes:
            _await_ready(side, pipe)
        start(run_client, url, side)
        _await_ready(side, pipes[-1])
        time.sleep(_SETTLE_S)
        yield pipes[-1]
    finally:
        for process in processes:
            process.kill()
            process.join()


def _await_ready(side: Side, pipe: Connection) -> None:
    if not pipe.poll(_START_S):
        raise SystemExit(f"{side.module}: a process did not start within {_START_S:g} s")
    pipe.recv()
