"""A lane's slot on its way to another node, key by key: the lane stands still, and goes on by itself."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from bus_load import loaded
from bus_system import FAST, System, query, soon, url_backend

from bus.slots import slot_of
from contracts import NotDurable, Query
from contracts.ids import lane_of_query
from groundwire.embedded import TemporaryServer
from groundwire.embedded.several import TemporaryCluster

pytestmark = pytest.mark.server
THREE = replace(FAST, lanes=3, reply_timeout_s=1.0)
MOVED = slot_of(0)


@pytest.fixture
async def three(cluster: TemporaryCluster) -> AsyncIterator[System]:
    """An empty cluster with three lanes."""
    cluster.flush()
    async with System(url_backend(cluster.url), THREE) as opened:
        yield opened


@dataclass
class Split:
    """A slot that is on two nodes until it may go on; `of_all`: none of its keys is where they were."""

    cluster: TemporaryCluster
    source: TemporaryServer
    of_all: bool
    is_split: threading.Event = field(default_factory=threading.Event)
    may_go_on: threading.Event = field(default_factory=threading.Event)

    def pause(self) -> None:
        """Called after each ten keys."""
        left = self.source.ask_all("CLUSTER", "GETKEYSINSLOT", str(MOVED), "1")
        if not (self.of_all and left):
            self.is_split.set()
            assert self.may_go_on.wait(30)


@asynccontextmanager
async def split(cluster: TemporaryCluster, *, of_all: bool = False) -> AsyncIterator[None]:
    """Lane 0 on its way; moved afterwards."""
    source = cluster.primary_of(MOVED)
    target = next(node for node in cluster.primaries if node is not source)
    on_two = Split(cluster, source, of_all)
    moving = asyncio.create_task(
        asyncio.to_thread(cluster.migrate, MOVED, target, pause=on_two.pause)
    )
    try:
        assert await asyncio.to_thread(on_two.is_split.wait, 30)
        yield
    finally:
        on_two.may_go_on.set()
        await moving


def of_lane_0(system: System) -> Query:
    """A question that is asked in the lane that moves."""
    asked = (system.bus.named(query(session=f"m{number}")) for number in range(1000))
    return next(one for one in asked if lane_of_query(one.query_id) == 0)


async def test_a_lane_that_is_split_for_longer_than_anything_lives_goes_on_by_itself(
    three: System, cluster: TemporaryCluster
) -> None:
    """Under load: a submit waits it out, nobody is declared dead, `verify` says what it can't see, and is exact."""
    async with loaded(three) as load:
        async with split(cluster):
            submitting = asyncio.create_task(three.bus.submit(of_lane_0(three)))
            proof = await three.bus.prove()
            assert proof.verdict == "unverified"
            assert [away.lane for away in proof.unreachable] == [0]
            assert "on its way to another node" in proof.unreachable[0].why
            await asyncio.sleep(THREE.alive_ttl_s)
            assert not submitting.done()
        query_id = await submitting
        assert (await three.bus.result(query_id)).query_id == query_id
        await load.more(40)
    assert not any(running.log.count("delivery.claimed") for running in load.workers.values())


@pytest.mark.parametrize("of_all", [False, True])
async def test_a_lane_that_is_on_two_nodes_is_not_told_as_well(
    three: System, cluster: TemporaryCluster, of_all: bool
) -> None:
    """Each key by itself can be read then, and nothing moves: `status` says what `verify` says."""
    for _ in range(12):
        await three.bus.submit(of_lane_0(three))
    assert (await three.bus.status()).accepted == 12
    async with split(cluster, of_all=of_all):
        found, proof = await asyncio.gather(three.bus.status(), three.bus.prove())
    for away in (found.unreachable, proof.unreachable):
        assert [one.lane for one in away] == [0]
        assert "on its way to another node" in away[0].why
    assert (found.accepted, found.is_well) == (0, False)
    again = await three.bus.status()
    assert (again.accepted, again.unreachable) == (12, ())


async def test_what_ran_on_the_way_is_not_said_to_be_durable(
    three: System, cluster: TemporaryCluster
) -> None:
    """The replicas of the node that the lane leaves know nothing of it; once it has moved those of the other do."""
    asked = of_lane_0(three)
    query_id = await three.bus.submit(asked, durable=True)
    async with split(cluster, of_all=True):
        with pytest.raises(NotDurable, match="on its way to another node"):
            await three.bus.submit(asked, durable=True)
    assert await three.bus.submit(asked, durable=True) == query_id
    async with three.running():
        await three.bus.result(query_id)
        await soon(lambda: _is_settled(three))


async def _is_settled(system: System) -> bool:
    return all(lane.holds and not lane.open for lane in await system.bus.verify())
