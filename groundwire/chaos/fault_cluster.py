"""Faults of a cluster: a primary killed or frozen, failovers by agreement, slots that move.

Each strikes the node of one lane, and leaves the cluster whole before the next one may.
"""

import asyncio
import time
from collections.abc import Callable

from bus.slots import slot_of
from contracts.ids import lane_of_query
from groundwire.embedded import TemporaryServer

from .arena import Arena, in_thread
from .plan import Fault, Strike

_SPLIT_S = 0.05
_BUSY = 4
_TRIES, _TRY_S = 200, 0.05


async def _strike(arena: Arena, lane: int, work: Callable[[], None]) -> None:
    async with arena.killing:
        await _until_busy(arena, lane)
        await in_thread(work)


async def _until_busy(arena: Arena, lane: int) -> None:
    """Wait until the lane has queries under way: none is accepted while its primary has no replica yet."""
    for _ in range(_TRIES):
        if sum(lane_of_query(query_id) == lane for query_id in arena.book.waiting) >= _BUSY:
            return
        await asyncio.sleep(_TRY_S)


async def _kill(arena: Arena, strike: Strike) -> None:
    """Over with the kill: the recovery from it is the failover's."""
    cluster, slot = arena.cluster, slot_of(arena.keys(strike).lane)
    await arena.killing.acquire()
    await _until_busy(arena, arena.keys(strike).lane)
    killed: list[TemporaryServer] = []

    def kill() -> None:
        killed.append(cluster.primary_of(slot))
        killed[0].kill()

    def bring_back() -> None:
        cluster.primary_of(slot)  # another's by now
        time.sleep(strike.lasts_s)
        killed[0].start()
        cluster.await_whole()

    async def afterwards() -> None:
        try:
            await in_thread(bring_back)
        finally:
            arena.killing.release()

    try:
        await in_thread(kill)
    finally:
        arena.afterwards.create_task(afterwards())


async def _freeze(arena: Arena, strike: Strike) -> None:
    """For longer than a node may be silent: thawed, it is a primary that others have left."""
    lane = arena.keys(strike).lane
    cluster, slot = arena.cluster, slot_of(lane)

    def freeze() -> None:
        frozen = cluster.primary_of(slot)
        frozen.freeze()
        try:
            time.sleep(strike.lasts_s)
        finally:
            frozen.thaw()
        cluster.await_whole()

    await _strike(arena, lane, freeze)


async def _fail_over(arena: Arena, strike: Strike) -> None:
    lane = arena.keys(strike).lane
    await _strike(arena, lane, lambda: arena.cluster.fail_over(slot_of(lane)))


async def _reshard(arena: Arena, strike: Strike) -> None:
    """The lane's slot, key by key; its keys are on two nodes for a while."""
    lane = arena.keys(strike).lane
    slot = slot_of(lane)

    def reshard() -> None:
        target = _other(arena, slot, strike.pick)
        arena.cluster.migrate(slot, target, pause=lambda: time.sleep(_SPLIT_S))

    await _strike(arena, lane, reshard)


async def _hand_over(arena: Arena, strike: Strike) -> None:
    lane = arena.keys(strike).lane
    slot = slot_of(lane)

    def hand_over() -> None:
        arena.cluster.hand_over(slot, _other(arena, slot, strike.pick))

    await _strike(arena, lane, hand_over)


def _other(arena: Arena, slot: int, pick: int) -> TemporaryServer:
    serving = arena.cluster.primary_of(slot)
    others = [node for node in arena.cluster.primaries if node is not serving]
    return others[pick % len(others)]


CLUSTER = (
    Fault(
        "primary-kill",
        "kill -9 of a lane's primary; its replica takes over, and it comes back as a replica",
        0.5,
        1.5,
        _kill,
        needs="own cluster",
    ),
    Fault(
        "primary-freeze",
        "SIGSTOP of a lane's primary until its replica has taken over, then SIGCONT",
        4.0,
        5.0,
        _freeze,
        needs="own cluster",
    ),
    Fault(
        "failover",
        "a replica takes over from a living primary",
        0.5,
        0.5,
        _fail_over,
        needs="own cluster",
    ),
    Fault(
        "reshard",
        "a lane's slot moves to another node, key by key",
        1.0,
        1.0,
        _reshard,
        needs="own cluster",
    ),
    Fault(
        "hand-over",
        "a lane's slot moves to another node at once, as Valkey 9 can",
        0.5,
        0.5,
        _hand_over,
        needs="own cluster",
    ),
)
