"""Looks at all lanes while the servers of some are away: those that answer are told, the others named."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from bus_system import FAST, FakeBackend, System, query, soon
from redis import exceptions as errors

from bus import Bus, DeadLetterEntry, UnreachableLane
from bus.failed import failed_envelope
from bus.keys import Keys
from contracts import Intent, Misconfigured, Permanent, Query, Unreachable
from contracts.address import Node

THREE = replace(FAST, lanes=3)


class Partly(FakeBackend):
    """A server for each lane, as it were; those of `away` refuse connections."""

    def __init__(self) -> None:
        super().__init__()
        self.away: set[int] = set()

    async def connect(self, lane: int, timeout_s: float, node: Node | None = None) -> Any:
        """Refused while the lane's server is away."""
        if lane in self.away:
            raise errors.ConnectionError(f"node-{lane}:6379 refused")
        return await super().connect(lane, timeout_s, node)


@pytest.fixture
def backend() -> Partly:
    """Three lanes whose servers can go away."""
    return Partly()


@pytest.fixture
async def three(backend: Partly) -> AsyncIterator[System]:
    """A system with twelve queries in its lanes, two workers that live, and nobody who works."""
    async with System(backend, THREE) as opened:
        await opened.bus.submit_many([query(str(n), session=f"s{n}") for n in range(12)])
        for lane in range(3):
            keys = Keys(lane)
            stream = keys.of("queries")
            await opened.call("XGROUP", "CREATE", stream, "understand", "0")
            for name in ("one", f"only-{lane}"):
                await opened.call("XGROUP", "CREATECONSUMER", stream, "understand", name)
                await opened.call("SET", keys.alive("understand", name), 1)
        yield opened


@pytest.mark.parametrize("away", [0, 1])
async def test_a_status_is_of_the_lanes_whose_servers_answer(
    three: System, backend: Partly, away: int
) -> None:
    """The missing one is named with what was tried; once it is back the status is whole again."""
    (share,) = (one for one in await three.bus.verify() if one.lane == away)
    backend.away = {away}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        part = await bus.status()
        (named,) = part.unreachable
        assert named.lane == away
        assert f"node-{away}:6379 refused" in named.why
        assert (part.accepted, part.open) == (12 - share.accepted, 12 - share.open)
        assert part.stages[0].backlog == 12 - share.working
        assert part.stages[0].workers == 3
        assert not part.is_well
        backend.away = set()
        again = await bus.status()
    assert (again.accepted, again.open, again.stages[0].workers) == (12, 12, 4)
    assert again.is_well


async def test_a_proof_is_none_of_a_lane_that_was_not_read(three: System, backend: Partly) -> None:
    """Unverified is neither verified nor broken; broken stays broken, and `verify` says nothing by halves."""
    backend.away = {1}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        proof = await bus.prove()
        assert [lane.lane for lane in proof.lanes] == [0, 2]
        assert [lane.lane for lane in proof.unreachable] == [1]
        assert proof.verdict == "unverified"
        with pytest.raises(Unreachable, match="lane 1"):
            await bus.verify()
        await three.call("HINCRBY", Keys(2).counters, "accepted", 1)
        assert (await bus.prove()).verdict == "broken"
        await three.call("HINCRBY", Keys(2).counters, "accepted", -1)
        backend.away = set()
        assert (await bus.prove()).verdict == "holds"


async def test_live_workers_are_those_that_a_lane_knows(three: System, backend: Partly) -> None:
    """Of one stage, over the lanes that answer."""
    assert (await three.bus.live_workers("understand")).count == 4
    backend.away = {0, 2}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        found = await bus.live_workers("understand")
    assert (found.count, [one.lane for one in found.unreachable]) == (2, [0, 2])
    assert str(UnreachableLane(2, "gone")) == "lane 2 is unreachable: gone"


async def fails(asked: Query) -> Intent:
    """A stage that answers nothing."""
    raise Permanent("not today")


@pytest.fixture
async def buried(three: System) -> dict[str, str]:
    """A dead letter of each of the twelve queries: its id → its query."""
    async with three.running("understand", handlers={"understand": fails}):
        letters = await soon(lambda: _letters(three, 12))
    assert {one.id[:2] for one in letters} == {"0/", "1/", "2/"}
    return {one.id: one.record.query_id for one in letters}


async def _letters(system: System, count: int) -> list[DeadLetterEntry]:
    found = await system.bus.dead.list()
    return found if len(found) == count else []


@pytest.mark.parametrize("away", [0, 1])
async def test_the_dead_letters_are_listed_of_the_lanes_whose_servers_answer(
    buried: dict[str, str], backend: Partly, away: int
) -> None:
    """The missing lane is named; who wants all of them gets none, and all once it is back."""
    backend.away = {away}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        part = await bus.dead.list_reachable()
        assert [one.id for one in part.entries] == [
            dead_id for dead_id in buried if not dead_id.startswith(f"{away}/")
        ]
        (named,) = part.unreachable
        assert (named.lane, f"node-{away}:6379 refused" in named.why) == (away, True)
        with pytest.raises(Unreachable, match=f"lane {away}"):
            await bus.dead.list()
        backend.away = set()
        whole = await bus.dead.list_reachable()
    assert ([one.id for one in whole.entries], whole.unreachable) == ([*buried], ())


async def test_the_newest_dead_letters_are_those_of_all_lanes(
    three: System, buried: dict[str, str]
) -> None:
    """By the servers' clocks, not one lane's before the next one's."""
    newest = [dead_id.partition("/")[2].split("-") for dead_id in buried]
    order = [(int(ms), int(seq)) for ms, seq in newest]
    assert order == sorted(order, reverse=True)
    assert [one.id for one in await three.bus.dead.list(limit=5)] == [*buried][:5]


@pytest.mark.parametrize("away", [0, 1])
async def test_a_dead_letter_needs_its_own_lane_alone(
    three: System, buried: dict[str, str], backend: Partly, away: int
) -> None:
    """Shown, replayed and discarded while another one's server is away; Unreachable where it is its own's."""
    lost, *others = sorted(buried, key=lambda dead_id: int(dead_id[0]) != away)
    (first, second) = [one for one in others if one.startswith("2/")][:2]
    backend.away = {away}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        assert (await bus.dead.get(first)).record.query_id == buried[first]
        assert await bus.dead.raw(first)
        assert await bus.dead.replay(first) == buried[first]
        await bus.dead.discard(second)
        for act in (bus.dead.get, bus.dead.raw, bus.dead.replay, bus.dead.discard):
            with pytest.raises(Unreachable, match=f"node-{away}"):
                await act(lost)
        backend.away = set()
        left = [one.id for one in await bus.dead.list()]
    assert left == [one for one in buried if one not in (first, second)]
    assert sum(lane.replayed for lane in await three.bus.verify()) == 1


async def ended(system: System, lane: int, query_id: str) -> None:
    """A result on a lane's stream of failed ones."""
    now = datetime.now(UTC)
    body = failed_envelope(None, None, query_id, stage="critic", now=now, message="")
    await system.call("XADD", Keys(lane).of("results.failed"), "*", "event", body)


@pytest.mark.parametrize("away", [0, 1])
async def test_results_of_the_other_lanes_come_while_one_is_away(
    three: System, backend: Partly, away: int
) -> None:
    """Its own follow once it is back, from when they were asked for; a cursor of meanwhile knows from when too."""
    for lane in range(3):
        await ended(three, lane, f"{lane}-before")
    backend.away = {away}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        assert [one.lane for one in await bus.unreachable_lanes()] == [away]
        async with aclosing(bus.results("failed")) as results:
            coming = asyncio.ensure_future(anext(results))

            async def has_come() -> bool:
                await ended(three, 2, "2-after")
                return coming.done()

            await soon(has_come)
            first = await coming
            backend.away = set()
            await ended(three, away, f"{away}-after")
            seen = {first.response.query_id}
            async for result in results:
                seen.add(result.response.query_id)
                if result.response.query_id.startswith(f"{away}-"):
                    break
        assert seen == {"2-after", f"{away}-after"}
        assert await bus.unreachable_lanes() == ()
        async with aclosing(bus.results("failed", after=first.cursor)) as again:
            async for result in again:
                assert not result.response.query_id.endswith("-before")
                if result.response.query_id == f"{away}-after":
                    break


async def test_no_server_at_all_is_no_status(three: System, backend: Partly) -> None:
    """Nothing to show is an error, as with one lane."""
    backend.away = {0, 1, 2}
    async with Bus(backend, THREE, opens_partly=True) as bus:
        looks = (bus.status, bus.prove, bus.unreachable_lanes, bus.dead.list_reachable)
        for look in (*looks, lambda: bus.live_workers("critic")):
            with pytest.raises(Unreachable, match="node-0"):
                await look()


async def test_who_only_looks_submits_nothing_while_the_lanes_are_not_agreed(
    three: System, backend: Partly
) -> None:
    """Lane 0's server knows how many there are: before it says so no lane gets a query."""
    backend.away = {0}
    asked = [query(str(n), session=f"s{n}") for n in range(12)]
    async with Bus(backend, THREE, opens_partly=True) as bus:
        with pytest.raises(Unreachable):
            await bus.submit_many(asked)
        backend.away = set()
        assert (await bus.status()).accepted == 12
        await bus.submit_many(asked)
        assert (await bus.status()).accepted == 24
    async with Bus(backend, FAST, opens_partly=True) as other:
        with pytest.raises(Misconfigured, match="GROUNDWIRE_LANES=3"):
            await other.status()
