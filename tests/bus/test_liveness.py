"""Alive or dead, never a third thing: who takes over whose work, and who doesn't. On the real server."""

import asyncio
import threading
import time
from typing import Any

import pytest
from bus_system import Running, System, holds, leave, query, ready, soon

from bus.wire import text
from groundwire import noop

pytest_plugins = ("bus_fixtures",)
pytestmark = pytest.mark.server


class Noting:
    """An `understand` that notes what runs at the same time, and may be held up."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.go.set()
        self.ran: list[str] = []
        self.together: dict[str, set[str]] = {}
        self._inside: set[str] = set()

    async def __call__(self, asked: Any) -> Any:
        """Wait where told to, then do nothing well."""
        self.ran.append(asked.query_id)
        self._inside.add(asked.query_id)
        try:
            await self.go.wait()
            await asyncio.sleep(0.002)
            self.together[asked.query_id] = set(self._inside)
        finally:
            self._inside.discard(asked.query_id)
        return await noop.understand(asked)


async def started(system: System, handler: Any = None, **changes: Any) -> Running:
    """A ready worker of the first stage."""
    running = system.start("understand", handler, **changes)
    await ready(running)
    return running


async def finish(system: System, answered: int) -> None:
    """Run the other stages until everything is answered, once."""
    async with system.running("retrieve", "synthesize", "critic", "format"):
        found = await system.settled()
    assert found.outcomes["answered"] == answered


async def ghost(system: System, questions: int, consumer: str = "ghost") -> list[str]:
    """Work in the hands of a consumer that does not live."""
    stream = system.keys.of("queries")
    if not await system.call("EXISTS", stream):
        await system.call("XGROUP", "CREATE", stream, "understand", "0", "MKSTREAM")
    ids = await system.bus.submit_many([query(str(number)) for number in range(questions)])
    await system.call(
        *("XREADGROUP", "GROUP", "understand", consumer, "COUNT", questions),
        *("STREAMS", stream, ">"),
    )
    return ids


async def test_the_work_of_a_vanished_worker_is_claimed_by_a_sibling(real: System) -> None:
    """Its key is deleted by whoever saw it die: the work runs at once, counted as a second delivery."""
    held, sibling_handler = Noting(), Noting()
    held.go.clear()
    lost = await started(real, held, concurrency=4)
    sibling = await started(real, sibling_handler, concurrency=4)
    await asyncio.sleep(1.0)
    await sibling.stop()  # it was proven; a new one has to prove itself first
    sibling = await started(real, sibling_handler, concurrency=4)
    await real.bus.submit_many([query(str(number)) for number in range(4)])
    await holds(lambda: len(held.ran) + len(sibling_handler.ran) == 4)
    await lost.vanish()
    await finish(real, 4)
    await leave(sibling)
    assert set(held.ran) <= set(sibling_handler.ran)


async def test_claimed_work_counts_its_deliveries_and_runs_alone(real: System) -> None:
    """A crash charges only its cause: suspects run one at a time, with nothing beside them."""
    suspects = await ghost(real, 6)
    handler = Noting()
    running = await started(real, handler)
    await holds(lambda: running.log.count("delivery.claimed") > 0)
    await real.bus.submit_many([query(f"new {number}") for number in range(30)])
    await finish(real, 36)
    await leave(running)
    assert len(handler.ran) == 36
    for query_id in suspects:
        assert handler.together[query_id] == {query_id}


async def test_one_message_of_a_dead_worker_finishes_on_an_idle_stream(real: System) -> None:
    """Nothing more is published, and it is still taken over."""
    await ghost(real, 1)
    async with real.running():
        await real.settled()


async def test_a_worker_claims_only_after_its_own_beats_have_succeeded_for_a_ttl(
    real: System,
) -> None:
    """A server that hears no beats makes everyone look dead: nobody judges before it is proven."""
    await ghost(real, 1)
    begun = time.monotonic()
    running = await started(real)
    await holds(lambda: running.log.count("delivery.claimed") > 0)
    assert time.monotonic() - begun >= real.config.alive_ttl_s
    await leave(running)
    await finish(real, 1)


async def test_the_living_keep_their_work_however_long_it_takes(real: System) -> None:
    """A handler many TTLs and leases long runs once: beats and renewals go on."""
    handler, sibling_handler = Noting(), Noting()
    handler.go.clear()
    running = await started(real, handler, lease_s=0.6)
    await real.bus.submit_many([query(str(number)) for number in range(3)])
    await holds(lambda: len(handler.ran) == 3)
    sibling = await started(real, sibling_handler, lease_s=0.6)
    await asyncio.sleep(2.5)
    handler.go.set()
    await finish(real, 3)
    await leave(running)
    await leave(sibling)
    assert (len(handler.ran), sibling_handler.ran) == (3, [])


async def test_a_handler_that_blocks_the_loop_does_not_cost_its_workers_life(real: System) -> None:
    """The beat is a thread's: a loop stuck for several TTLs loses nothing to a sibling."""
    deliveries = []

    async def blocking(asked: Any) -> Any:
        deliveries.append(asked.query_id)
        await asyncio.to_thread(lambda: None)
        time.sleep(3 * real.config.alive_ttl_s)  # noqa: ASYNC251 - the point
        return await noop.understand(asked)

    running = await started(real, blocking)
    query_id = await real.bus.submit(query())
    await holds(lambda: deliveries == [query_id])
    alive = real.keys.alive("understand", running.consumer)
    assert await real.call("PTTL", alive) > 0
    await finish(real, 1)
    await leave(running)
    assert deliveries == [query_id]


async def test_a_handler_that_blocks_the_loop_past_the_wedge_limit_ends_its_process(
    real: System,
) -> None:
    """Alive or dead, never a third thing: its work goes to others, and is charged for it."""
    ended, noticed = threading.Event(), []

    async def wedged(asked: Any) -> Any:
        noticed.append(ended.wait(20))  # holds up the loop until its own end
        return await noop.understand(asked)

    running = real.start("understand", wedged, wedge_limit_s=2 * real.config.beat_s)
    running.worker._parts[0][0].on_wedged = ended.set
    await ready(running)
    await real.bus.submit(query())
    await holds(lambda: noticed == [True])
    await leave(running)


async def test_a_claim_by_a_stranger_between_read_and_settle_is_one_output(real: System) -> None:
    """Whoever finishes first; the other's outcome is gone."""
    handler = Noting()
    handler.go.clear()
    running = await started(real, handler)
    await real.bus.submit_many([query(str(number)) for number in range(5)])
    await holds(lambda: len(handler.ran) == 5)
    stream = real.keys.of("queries")
    for entry_id in await real.deliveries("understand"):
        await real.call("XCLAIM", stream, "understand", "stranger", 0, entry_id)
    handler.go.set()
    await finish(real, 5)
    await leave(running)
    assert await real.backlog("queries") == 0


async def test_entries_whose_read_reply_was_lost_are_taken_in_hand(real: System) -> None:
    """The server counts them as ours: two ticks later they run, at no charge."""
    running = await started(real, backlog_mark=0)  # it reads nothing by itself
    ids = await ghost(real, 5, running.consumer)
    await holds(lambda: running.log.count("delivery.reconciled") == 5)
    await finish(real, len(ids))
    await leave(running)
    events = await real.call("XRANGE", real.keys.events, "-", "+")
    assert sum(b'"stage":"understand"' in b"".join(flat) for _, flat in events) == 5


async def test_consumers_are_removed_only_when_dead_and_empty(
    real: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead one with work is emptied first; a live one stays, however idle."""
    monkeypatch.setattr("bus.keeper._REAP_AFTER_MS", 300)
    await ghost(real, 3)
    idle = await started(real)
    await leave(await started(real))
    running = await started(real)

    async def reaped() -> bool:
        rows = await real.call("XINFO", "CONSUMERS", real.keys.of("queries"), "understand")
        return {row[1].decode() for row in rows} <= {idle.consumer, running.consumer}

    await soon(reaped)
    await finish(real, 3)
    await asyncio.sleep(0.5)
    assert await real.call("EXISTS", real.keys.alive("understand", idle.consumer)) == 1
    await leave(idle)
    await leave(running)


async def test_a_message_that_kills_its_workers_is_dead_after_its_limit(real: System) -> None:
    """Fifteen neighbours are answered, and none of them is charged to death."""
    await ghost(real, 16)
    stream = real.keys.of("queries")
    poison = next(iter(await real.deliveries("understand")))
    await real.call(
        *("XCLAIM", stream, "understand", "ghost", 0, poison, "RETRYCOUNT", 5, "JUSTID")
    )
    async with real.running():
        found = await real.settled()
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (15, 1)
    [record] = await real.dead()
    assert (record.reason, record.deliveries) == ("deliveries", 6)


async def test_twenty_workers_at_once_share_the_work(real: System) -> None:
    """Twenty names, each question once."""
    handlers = [Noting() for _ in range(20)]
    workers = [real.start("understand", handler, concurrency=1) for handler in handlers]
    await asyncio.gather(*(ready(running) for running in workers))
    ids = await real.bus.submit_many([query(str(number)) for number in range(200)])
    await finish(real, 200)
    await asyncio.gather(*(leave(running) for running in workers))
    ran = [query_id for handler in handlers for query_id in handler.ran]
    assert sorted(ran) == sorted(ids)
    assert await real.call("XINFO", "CONSUMERS", real.keys.of("queries"), "understand") == []


async def test_workers_that_vanish_again_and_again_lose_and_double_nothing(real: System) -> None:
    """Every stage dies twice under load, without a goodbye."""
    config: dict[str, Any] = {"alive_ttl_s": 0.4}
    workers = {stage: real.start(stage, **config) for stage in noop.HANDLERS}
    await asyncio.gather(*(ready(running) for running in workers.values()))
    await real.bus.submit_many([query(str(number)) for number in range(150)])
    for _ in range(2):
        for stage in noop.HANDLERS:
            await workers[stage].vanish()
            workers[stage] = real.start(stage, **config)
            await ready(workers[stage])
    found = await real.settled()
    await asyncio.gather(*(leave(running) for running in workers.values()))
    assert found.outcomes["answered"] == 150


async def test_all_leases_are_renewed_however_many(system: System) -> None:
    """Of its own alone; who handles thousands at a time holds them all as long as it lives."""
    stream = system.keys.of("queries")
    await system.call("XGROUP", "CREATE", stream, "understand", "0", "MKSTREAM")
    for number in range(2_100):
        await system.call("XADD", stream, "*", "number", number)
    for name, count in (("mine", 2_000), ("theirs", 100)):
        read = ("XREADGROUP", "GROUP", "understand", name, "COUNT", count, "STREAMS", stream, ">")
        [[_, entries]] = await system.call(*read)
        ids = [entry_id for entry_id, _ in entries]
        aged = ("IDLE", 3_600_000, "JUSTID")
        await system.call("XCLAIM", stream, "understand", name, 0, *ids, *aged)
    assert await system.script("renew", [stream], ["understand", "mine"]) == 2_000
    rows = await system.call("XPENDING", stream, "understand", "IDLE", 3_000_000, "-", "+", 3_000)
    assert [text(row[1]) for row in rows] == ["theirs"] * 100
