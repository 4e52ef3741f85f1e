"""The whole flow on a cluster and on a Sentinel set: the same code, other servers."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from bus_system import FAST, NOOP, STAGES, System, query, soon, url_backend

from bus import Backend, Bus, UrlBackend
from bus.access import CLIENT, users
from bus.keys import LANES, Keys
from bus.slots import slot_of
from bus.wire import Wire
from contracts import Misconfigured, Permanent, Value
from contracts.ids import lane_of_query
from groundwire.embedded.several import TemporaryCluster, TemporarySentinels

pytestmark = pytest.mark.server
FOUR = replace(FAST, lanes=4)


@pytest.fixture
async def four(cluster: TemporaryCluster) -> AsyncIterator[System]:
    """An empty cluster with four lanes: on each of its nodes is one at least."""
    cluster.flush()
    async with System(url_backend(cluster.url), FOUR) as opened:
        yield opened


async def test_a_cluster_answers_everything_once_in_all_lanes(four: System) -> None:
    """Five workers, each at every node: results are waited for and followed, and the law holds in each lane."""
    async with four.running():
        asked = [query(str(number), session=f"s{number}") for number in range(60)]
        ids = await four.bus.submit_many(asked, durable=True)
        assert len(set(ids)) == 60
        for query_id in ids:
            assert (await four.bus.result(query_id)).query_id == query_id
        seen = set()
        async for result in four.bus.results(after="0"):
            seen.add(result.response.query_id)
            if len(seen) == 60:
                break
        state = await four.bus.status()
        assert (state.accepted, state.outcomes["answered"], state.idle_stages) == (60, 60, ())
        hops = await four.bus.trace(ids[0])
    assert seen == set(ids)
    assert {lane_of_query(query_id) for query_id in ids} == {0, 1, 2, 3}
    assert [hop.event.stage for hop in hops] == list(STAGES)
    assert all(lane.holds and lane.open == 0 for lane in await four.bus.verify())


async def test_dead_letters_of_a_cluster_are_listed_shown_and_replayed(four: System) -> None:
    """Each lies on the node of its lane."""
    is_broken = True

    async def retrieve(intent: object) -> Value:
        if is_broken:
            raise Permanent("no")
        return await NOOP["retrieve"](intent)

    async with four.running(handlers={"retrieve": retrieve}):
        ids = await four.bus.submit_many([query(str(n), session=f"s{n}") for n in range(8)])
        for query_id in ids:
            assert (await four.bus.result(query_id)).status == "failed"
        is_broken = False
        dead = await four.bus.dead.list()
        assert {entry.id[0] for entry in dead} == {str(lane_of_query(one)) for one in ids}
        for entry in dead:
            assert await four.bus.dead.raw(entry.id)
            await four.bus.dead.replay(entry.id)
        await soon(lambda: _all_answered(four, 8))
    assert all(lane.holds and lane.open == 0 for lane in await four.bus.verify())


async def _all_answered(system: System, count: int) -> bool:
    return (await system.bus.status()).outcomes["answered"] == count


async def test_bare_entries_in_any_lane_are_adopted_and_found(four: System) -> None:
    """Their own id, or the one of their entry: `result` looks where it may be."""
    async with four.running():
        for lane in range(4):
            wire = Wire(four.backend, 5.0, lane)
            stream = Keys(lane).of("queries")
            entry = (await wire.call("XADD", stream, "*", "text", "why?")).decode()
            await wire.call("XADD", stream, "*", "text", "why?", "query_id", f"own-{lane}")
            await wire.close()
            for query_id in (f"{lane}-{entry}", f"own-{lane}"):
                assert (await four.bus.result(query_id)).query_id == query_id
                assert [hop.event.stage for hop in await four.bus.trace(query_id)] == list(STAGES)


async def test_a_sentinel_set_answers_like_one_server(sentinels: TemporarySentinels) -> None:
    """The primary is the one that the Sentinels name."""
    sentinels.flush()
    async with System(url_backend(sentinels.url), replace(FAST, lanes=2)) as system:
        async with system.running():
            ids = await system.bus.submit_many(
                [query(str(n), session=f"s{n}") for n in range(20)], durable=True
            )
            for query_id in ids:
                assert (await system.bus.result(query_id)).query_id == query_id
        assert all(lane.holds and lane.open == 0 for lane in await system.bus.verify())


class Guarded(System):
    """A system whose workers and client are users of their own."""

    def __init__(self, url: str) -> None:
        super().__init__(url_backend(url), FOUR)
        self._url = url
        self.bus = Bus(self.backend_of(CLIENT), FOUR)

    def backend_of(self, stage: str) -> Backend:
        """By its own user."""
        scheme, _, rest = self._url.partition("://")
        return UrlBackend(f"{scheme}://{stage}:secret@{rest.rpartition('@')[2]}")


async def test_the_users_of_groundwire_have_the_rights_that_a_cluster_takes(
    cluster: TemporaryCluster,
) -> None:
    """On every node: they may ask where a lane is, follow a redirection, and wait for a replica."""
    cluster.flush()
    for node in cluster.nodes:
        for user in users():
            assert (
                node.ask("ACL", "SETUSER", user.name, "reset", "on", ">secret", *user.rules)
                == "+OK"
            )
    slot = slot_of(0)
    serving = cluster.primary_of(slot)
    try:
        wire = Wire(url_backend(cluster.url), 5.0)
        await wire.call("SET", LANES, 4)
        await wire.close()
        async with Guarded(cluster.url) as system, system.running():
            asked = [query(str(n), session=f"s{n}") for n in range(20)]
            ids = await system.bus.submit_many(asked, durable=True)
            target = next(node for node in cluster.primaries if node is not serving)
            await asyncio.to_thread(cluster.migrate, slot, target)
            ids += await system.bus.submit_many(asked, durable=True)
            for query_id in ids:
                assert (await system.bus.result(query_id)).query_id == query_id
    finally:
        for node in cluster.nodes:
            node.ask("ACL", "DELUSER", *(user.name for user in users()))


async def test_a_node_s_own_url_says_what_to_write_instead(cluster: TemporaryCluster) -> None:
    """A cluster needs a URL that says so."""
    other = next(
        lane for lane in range(9) if cluster.primary_of(slot_of(lane)) is not cluster.nodes[0]
    )
    url = cluster.url.replace("redis+cluster", "redis").partition(",")[0]
    wire = Wire(UrlBackend(url), 5.0)
    with pytest.raises(Misconfigured, match=r"redis\+cluster://"):
        await wire.call("GET", Keys(other).open)
    await wire.close()


async def test_a_node_that_is_frozen_or_gone_holds_up_no_other_lane(
    four: System, cluster: TemporaryCluster
) -> None:
    """Not even a moment: each lane has its own reader, keeper, settler and beat."""
    struck = cluster.primary_of(slot_of(0))
    others = [lane for lane in range(4) if cluster.primary_of(slot_of(lane)) is not struck]
    asked = [four.bus.named(query(str(n), session=f"s{n}")) for n in range(40)]
    elsewhere = [one for one in asked if lane_of_query(one.query_id) in others]
    async with four.running():
        await four.bus.submit_many([query("before", session=f"s{n}") for n in range(20)])
        struck.freeze()
        try:
            async with asyncio.timeout(1.0):
                ids = await four.bus.submit_many(elsewhere)
                for query_id in ids:
                    await four.bus.result(query_id)
        finally:
            struck.thaw()
        await asyncio.to_thread(cluster.await_whole)
        await soon(lambda: _holds(four))


async def _holds(system: System) -> bool:
    return all(lane.holds and lane.open == 0 for lane in await system.bus.verify())
