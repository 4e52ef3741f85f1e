"""The state of the system as the server knows it: workers, backlog, pending, outcomes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis import exceptions as errors

from contracts import OUTCOMES, Stage, Topology

from .clock import time_reply_ms
from .delivery import order_of
from .keys import Keys
from .survey import Asking, UnreachableLane, survey
from .wire import Wire, text


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
    """All stages, the outcomes counted, and what is open or dead: over all lanes but the unreachable ones."""

    stages: tuple[StageStatus, ...]
    outcomes: dict[str, int]
    accepted: int
    open: int
    dead: int
    unreachable: tuple[UnreachableLane, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether every lane's server answers and no stage has work and no worker."""
        return not self.unreachable and not self.unattended_stages

    @property
    def idle_stages(self) -> tuple[str, ...]:
        """Stages without a live worker."""
        return tuple(stage.stage for stage in self.stages if not stage.workers)

    @property
    def unattended_stages(self) -> tuple[str, ...]:
        """Stages with work and no live worker: what makes the whole unready."""
        return tuple(stage.stage for stage in self.stages if stage.is_unattended)


@dataclass(frozen=True)
class LiveWorkers:
    """How many workers of a stage live, as the lanes know whose server answers."""

    count: int
    unreachable: tuple[UnreachableLane, ...] = ()


@dataclass(frozen=True)
class _Share:
    """A stage in one lane. `length`: entries of its stream, delivered or not."""

    workers: frozenset[str]
    length: int
    pending: int
    delayed: int
    oldest_ms: int | None
    added: int | None


@dataclass(frozen=True)
class _LaneStatus:
    """One lane; its shares are in the order of the topology's stages."""

    shares: tuple[_Share, ...]
    counters: dict[str, int]
    open: int
    dead: int


async def read_status(ask: Asking, topology: Topology, lanes: int) -> SystemStatus:
    """Ask the servers; not one step, so that numbers may be a moment apart. Unreachable if none answers."""

    async def read(lane: int) -> _LaneStatus:
        return await _read_lane(await ask(lane), Keys(lane), topology)

    found, unreachable = await survey(read, lanes)
    counters: Counter[str] = Counter()
    for one in found:
        counters.update(one.counters)
    return SystemStatus(
        stages=tuple(
            _over_lanes(stage.name, [one.shares[number] for one in found])
            for number, stage in enumerate(topology.stages)
        ),
        outcomes={name: counters[name] for name in OUTCOMES},
        accepted=counters["accepted"],
        open=sum(one.open for one in found),
        dead=sum(one.dead for one in found),
        unreachable=unreachable,
    )


def _over_lanes(stage: str, shares: Sequence[_Share]) -> StageStatus:
    workers = frozenset[str]().union(*(one.workers for one in shares))
    pending = sum(one.pending for one in shares)
    added = [one.added for one in shares if one.added is not None]
    return StageStatus(
        stage=stage,
        workers=len(workers),
        backlog=sum(one.length for one in shares) - pending,
        pending=pending,
        delayed=sum(one.delayed for one in shares),
        oldest_ms=max((one.oldest_ms for one in shares if one.oldest_ms is not None), default=None),
        added=sum(added) if len(added) == len(shares) else None,
    )


async def _read_lane(wire: Wire, keys: Keys, topology: Topology) -> _LaneStatus:
    await _require_one_place(wire, keys, topology)
    now_ms = int(time_reply_ms(await wire.call("TIME")))
    shares = [await _read_share(wire, keys, stage, now_ms) for stage in topology.stages]
    counters = pairs(await wire.call("HGETALL", keys.counters))
    return _LaneStatus(
        shares=tuple(shares),
        counters={name: int(value) for name, value in counters.items()},
        open=await wire.call("ZCARD", keys.open),
        dead=await wire.call("XLEN", keys.dead),
    )


async def _require_one_place(wire: Wire, keys: Keys, topology: Topology) -> None:
    """Unreachable while the lane's keys are on two nodes, where nothing moves: what names one key doesn't tell.

    Neither node answers what names several of which it lacks one; no consumer is without a name.
    """
    await wire.call("EXISTS", *(keys.alive(stage.name, "") for stage in topology.stages))


async def _read_share(wire: Wire, keys: Keys, stage: Stage, now_ms: int) -> _Share:
    """`now_ms`: by the lane's server."""
    stream = keys.of(stage.consumes)
    length = await wire.call("XLEN", stream)
    delayed = await wire.call("ZCARD", keys.delayed(stage.consumes))
    first = await wire.call("XRANGE", stream, "-", "+", "COUNT", 1)
    ages = [max(0, now_ms - order_of(text(entry_id))[0]) for entry_id, _ in first]
    added = await _added(wire, stream)
    consumers = await _consumers(wire, stream, stage.name)
    pending = sum(int(consumer["pending"]) for consumer in consumers)
    workers = await _alive(wire, keys, stage.name, consumers)
    return _Share(workers, length, pending, delayed, max(ages, default=None), added)


async def _added(wire: Wire, stream: str) -> int | None:
    """How many entries a stream ever got; None where that isn't counted."""
    try:
        reply = pairs(await wire.call("XINFO", "STREAM", stream))
    except errors.ResponseError as error:
        if "no such key" in str(error):
            return 0
        raise
    return reply.get("entries-added")


async def live_workers(ask: Asking, stage: Stage, lanes: int) -> LiveWorkers:
    """How many workers of a stage live. Asks for no more than a worker of that stage may know."""

    async def read(lane: int) -> frozenset[str]:
        wire, keys = await ask(lane), Keys(lane)
        consumers = await _consumers(wire, keys.of(stage.consumes), stage.name)
        return await _alive(wire, keys, stage.name, consumers)

    found, unreachable = await survey(read, lanes)
    return LiveWorkers(len(frozenset[str]().union(*found)), unreachable)


async def _alive(
    wire: Wire, keys: Keys, stage: str, consumers: list[dict[str, Any]]
) -> frozenset[str]:
    names = [text(consumer["name"]) for consumer in consumers]
    alive = [name for name in names if await wire.call("EXISTS", keys.alive(stage, name))]
    return frozenset(alive)


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
