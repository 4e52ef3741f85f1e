"""The state of the system as the server knows it: workers, backlog, pending, outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis import exceptions as errors

from contracts import OUTCOMES, Stage, Topology

from .clock import time_reply_ms
from .delivery import order_of
from .keys import Keys
from .wire import Wire, Wires, text


@dataclass(frozen=True)
class StageStatus:
    """One stage over all lanes. `oldest_ms`: age of its oldest unfinished entry, None when empty.

    `added`: entries that its stream ever got; None where the server doesn't count them (Redis before 7).
    """

    stage: str
    workers: int
    backlog: int
    pending: int
    delayed: int
    oldest_ms: int | None
    added: int | None = None

    @property
    def is_unattended(self) -> bool:
        """Whether it has work, and nobody who does it."""
        return not self.workers and bool(self.backlog or self.pending or self.delayed)


@dataclass(frozen=True)
class SystemStatus:
    """All stages, the outcomes counted, and what is open or dead."""

    stages: tuple[StageStatus, ...]
    outcomes: dict[str, int]
    accepted: int
    open: int
    dead: int

    @property
    def idle_stages(self) -> tuple[str, ...]:
        """Stages without a live worker."""
        return tuple(stage.stage for stage in self.stages if not stage.workers)

    @property
    def unattended_stages(self) -> tuple[str, ...]:
        """Stages with work and no live worker: what makes the whole unready."""
        return tuple(stage.stage for stage in self.stages if stage.is_unattended)


async def read_status(wires: Wires, topology: Topology, lanes: int) -> SystemStatus:
    """Ask the servers, a lane at a time; not one step, so that numbers may be a moment apart."""
    now_ms = [int(time_reply_ms(await wires[lane].call("TIME"))) for lane in range(lanes)]
    stages = tuple([await _stage_status(wires, stage, now_ms) for stage in topology.stages])
    counters: dict[str, int] = {}
    open_queries = dead = 0
    for lane in range(lanes):
        keys, wire = Keys(lane), wires[lane]
        flat = pairs(await wire.call("HGETALL", keys.counters))
        for name, value in flat.items():
            counters[name] = counters.get(name, 0) + int(value)
        open_queries += await wire.call("ZCARD", keys.open)
        dead += await wire.call("XLEN", keys.dead)
    return SystemStatus(
        stages=stages,
        outcomes={name: counters.get(name, 0) for name in OUTCOMES},
        accepted=counters.get("accepted", 0),
        open=open_queries,
        dead=dead,
    )


async def _stage_status(wires: Wires, stage: Stage, now_ms: Sequence[int]) -> StageStatus:
    """`now_ms`: by each lane's server."""
    workers: set[str] = set()
    length = pending = delayed = 0
    oldest: int | None = None
    added: int | None = 0
    for lane, now in enumerate(now_ms):
        keys, wire = Keys(lane), wires[lane]
        stream = keys.of(stage.consumes)
        length += await wire.call("XLEN", stream)
        delayed += await wire.call("ZCARD", keys.delayed(stage.consumes))
        for first_id, _ in await wire.call("XRANGE", stream, "-", "+", "COUNT", 1):
            age = max(0, now - order_of(text(first_id))[0])
            oldest = age if oldest is None else max(oldest, age)
        more = await _added(wire, stream)
        added = None if added is None or more is None else added + more
        consumers = await _consumers(wire, stream, stage.name)
        pending += sum(int(consumer["pending"]) for consumer in consumers)
        workers |= await _alive(wire, keys, stage.name, consumers)
    return StageStatus(stage.name, len(workers), length - pending, pending, delayed, oldest, added)


async def _added(wire: Wire, stream: str) -> int | None:
    """How many entries a stream ever got; None where that isn't counted."""
    try:
        reply = pairs(await wire.call("XINFO", "STREAM", stream))
    except errors.ResponseError as error:
        if "no such key" in str(error):
            return 0
        raise
    return reply.get("entries-added")


async def live_workers(wires: Wires, stage: Stage, lanes: int) -> int:
    """How many workers of a stage live. Asks for no more than a worker of that stage may know."""
    workers: set[str] = set()
    for lane in range(lanes):
        keys, wire = Keys(lane), wires[lane]
        consumers = await _consumers(wire, keys.of(stage.consumes), stage.name)
        workers |= await _alive(wire, keys, stage.name, consumers)
    return len(workers)


async def _alive(wire: Wire, keys: Keys, stage: str, consumers: list[dict[str, Any]]) -> set[str]:
    names = [text(consumer["name"]) for consumer in consumers]
    return {name for name in names if await wire.call("EXISTS", keys.alive(stage, name))}


async def _consumers(wire: Wire, stream: str, group: str) -> list[dict[str, Any]]:
    try:
        reply = await wire.call("XINFO", "CONSUMERS", stream, group)
    except errors.ResponseError as error:
        if "no such key" in str(error) or "NOGROUP" in str(error):
            return []
        raise
    return [pairs(consumer) for consumer in reply]


def pairs(reply: Any) -> dict[str, Any]:
    """A reply of names and values, flat or as a map."""
    items = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
    return {text(name): value for name, value in items}
