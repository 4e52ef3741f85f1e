"""What an operator does with dead letters: list, show, replay, discard."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from bus_system import NOOP, System, query, soon

from contracts import Invalid, Permanent

pytest_plugins = ("bus_fixtures",)


class CurableStage:
    """A stage that fails until it is cured."""

    def __init__(self, stage: str) -> None:
        self.is_cured = False
        self._stage = stage

    async def __call__(self, message: Any) -> Any:
        """Fail, or do nothing well."""
        if not self.is_cured:
            raise Permanent("not yet")
        return await NOOP[self._stage](message)


class Curable(CurableStage):
    """The same for `retrieve`."""

    def __init__(self) -> None:
        super().__init__("retrieve")


async def test_a_dead_letter_is_listed_and_shown_with_its_bytes(system: System) -> None:
    """Newest first; the record says where and why, the bytes are asked for apart."""
    async with system.running(handlers={"retrieve": Curable()}):
        first = await system.ask("first question")
        second = await system.ask("second question")
    listed = await system.bus.dead.list()
    assert [entry.record.query_id for entry in listed] == [second.query_id, first.query_id]
    assert len(await system.bus.dead.list(limit=1)) == 1
    shown = await system.bus.dead.get(listed[0].id)
    assert shown == listed[0]
    assert (shown.record.stage, shown.record.stream) == ("retrieve", "intents")
    assert "question" not in repr(shown)
    raw = await system.bus.dead.raw(shown.id)
    assert raw is not None
    assert b"second question" in raw
    assert shown.record.bytes == len(raw)


async def test_a_replay_gives_one_new_result_that_supersedes_the_failed_one(
    system: System,
) -> None:
    """Counted as replayed; its key is overwritten, its entry names what it replaces."""
    handler = Curable()
    async with system.running(handlers={"retrieve": handler}):
        failed = await system.ask()
        handler.is_cured = True
        [entry] = await system.bus.dead.list()
        assert await system.bus.dead.replay(entry.id) == failed.query_id
        found = await system.settled()
        answered = await system.bus.result(failed.query_id)
    assert answered.status == "approved_fallback"
    [result] = await system.results("answered")
    [(failed_id, _)] = await system.call("XRANGE", system.keys.of("results.failed"), "-", "+")
    assert result.supersedes == failed_id.decode()
    assert (found.accepted, found.replayed) == (1, 1)
    assert (found.outcomes["failed"], found.outcomes["answered"]) == (1, 1)
    assert await system.bus.dead.list() == []
    assert await system.call("EXISTS", entry.record.raw_key, system.keys.replaying) == 0


async def test_who_waits_after_a_replay_gets_the_new_result(system: System) -> None:
    """Not the failed one that was there before."""
    handler = Curable()
    async with system.running("understand", "retrieve", handlers={"retrieve": handler}):
        failed = await system.ask()
        handler.is_cured = True
        [entry] = await system.bus.dead.list()
        await system.bus.dead.replay(entry.id)
        waiting = asyncio.create_task(system.bus.result(failed.query_id, timeout_s=20))
        async with system.running("synthesize", "critic", "format"):
            assert (await waiting).status == "approved_fallback"
            await system.settled()


async def test_a_replay_that_fails_again_is_a_new_dead_letter_to_replay(system: System) -> None:
    """As often as it takes, each result superseding the one before."""
    handler = Curable()
    async with system.running(handlers={"retrieve": handler}):
        failed = await system.ask()
        for times in (1, 2):
            [entry] = await system.bus.dead.list()
            await system.bus.dead.replay(entry.id)
            await soon(lambda times=times: _failures(system, 1 + times))  # type: ignore[misc]
        handler.is_cured = True
        [entry] = await system.bus.dead.list()
        await system.bus.dead.replay(entry.id)
        found = await system.settled()
    assert (found.replayed, found.outcomes["failed"], found.outcomes["answered"]) == (3, 3, 1)
    assert (await system.bus.result(failed.query_id)).status == "approved_fallback"
    assert [r.supersedes is None for r in await system.results("failed")] == [True, False, False]


async def _failures(system: System, count: int) -> bool:
    return await system.counter("failed") == count


async def test_a_replay_twice_at_once_is_one_replay(system: System) -> None:
    """From two clients: one gets its query_id, the other Invalid."""
    handler = Curable()
    async with system.running(handlers={"retrieve": handler}), System(system.backend) as other:
        await system.ask()
        handler.is_cured = True
        [entry] = await system.bus.dead.list()
        tried = await asyncio.gather(
            *(opened.bus.dead.replay(entry.id) for opened in (system, other) * 4),
            return_exceptions=True,
        )
        found = await system.settled()
    [result] = await system.results("answered")
    [(failed_id, _)] = await system.call("XRANGE", system.keys.of("results.failed"), "-", "+")
    assert result.supersedes == failed_id.decode()
    assert sum(isinstance(outcome, str) for outcome in tried) == 1
    assert sum(isinstance(outcome, Invalid) for outcome in tried) == 7
    assert (found.replayed, found.outcomes["answered"]) == (1, 1)


async def test_a_dead_letter_of_a_passed_deadline_can_be_replayed(system: System) -> None:
    """A replay has a deadline of its own."""
    async with System(system.backend, replace(system.config, deadline_s=0.1)) as short:
        query_id = await short.bus.submit(query())
    await asyncio.sleep(0.2)
    async with system.running():
        assert (await system.bus.result(query_id)).status == "failed"
        [entry] = await system.bus.dead.list()
        assert entry.record.reason == "deadline"
        await system.bus.dead.replay(entry.id)
        found = await system.settled()
    assert found.outcomes["answered"] == 1


@pytest.mark.parametrize("stream", ["queries", "intents", "verdicts"])
async def test_a_stranger_cannot_be_replayed(system: System, stream: str) -> None:
    """There is nothing that could run: Invalid says to discard it."""
    async with system.running():
        await system.add(stream, "junk", b"\xff\xfe")
        await system.add(stream, "event", "[" * 100_000)
        await soon(lambda: _failures(system, 2))
        for entry in await system.bus.dead.list():
            with pytest.raises(Invalid, match="discard"):
                await system.bus.dead.replay(entry.id)
        found = await system.settled()
    assert found.replayed == 0


async def test_a_dead_letter_whose_bytes_have_expired_cannot_be_replayed(system: System) -> None:
    """Invalid, and it stays listed until it is discarded."""
    async with system.running(handlers={"retrieve": Curable()}):
        await system.ask()
        [entry] = await system.bus.dead.list()
        await system.call("DEL", entry.record.raw_key)
        with pytest.raises(Invalid, match="expired"):
            await system.bus.dead.replay(entry.id)
        await system.settled()
    assert len(await system.bus.dead.list()) == 1


async def test_a_discarded_dead_letter_is_gone_and_its_failed_result_stays(
    system: System,
) -> None:
    """Record and bytes are deleted."""
    async with system.running(handlers={"retrieve": Curable()}):
        failed = await system.ask()
        [entry] = await system.bus.dead.list()
        await system.bus.dead.discard(entry.id)
        assert await system.bus.dead.list() == []
        assert await system.call("EXISTS", entry.record.raw_key) == 0
        assert await system.bus.result(failed.query_id) == failed
        await system.settled()
        for act in (system.bus.dead.replay, system.bus.dead.discard, system.bus.dead.get):
            with pytest.raises(Invalid, match="no dead letter"):
                await act(entry.id)


@pytest.mark.parametrize("dead_id", ["", "1-0", "x/1-0", "1/1-0", "²/1-0", "0/", "0/x", "0/-"])
async def test_what_is_no_dead_letters_id_is_invalid(system: System, dead_id: str) -> None:
    """Not an error of the server's."""
    for act in (system.bus.dead.get, system.bus.dead.replay, system.bus.dead.discard):
        with pytest.raises(Invalid):
            await act(dead_id)


async def test_replays_under_load_keep_everything_exact(system: System) -> None:
    """Twenty dead letters replayed at once among new questions."""
    handler = Curable()
    async with system.running(handlers={"retrieve": handler}):
        await system.bus.submit_many([query(str(number)) for number in range(20)])
        await soon(lambda: _failures(system, 20))
        handler.is_cured = True
        entries = await system.bus.dead.list()
        await asyncio.gather(
            system.bus.submit_many([query(str(number)) for number in range(20)]),
            *(system.bus.dead.replay(entry.id) for entry in entries),
        )
        found = await system.settled()
    assert (found.accepted, found.replayed) == (40, 20)
    assert (found.outcomes["failed"], found.outcomes["answered"]) == (20, 40)


async def test_all_stages_can_be_replayed(system: System) -> None:
    """The message goes back to the stream that it died on."""
    for stage in NOOP:
        handler = CurableStage(stage)
        async with system.running(handlers={stage: handler}):
            assert (await system.ask()).status == "failed"
            [entry] = await system.bus.dead.list()
            assert entry.record.stage == stage
            handler.is_cured = True
            await system.bus.dead.replay(entry.id)
            await system.settled()
    assert await system.counter("replayed") == len(NOOP)


async def test_what_is_no_record_hides_no_dead_letter(system: System) -> None:
    """Every stage may write there: what one of them puts there by mistake is passed over."""
    async with system.running(handlers={"retrieve": Curable()}):
        failed = await system.ask()
    for junk in (("record", "{}"), ("record", b"\xff"), ("event", "x")):
        entry_id = await system.add("dead", *junk)
        with pytest.raises(Invalid, match="no dead letter"):
            await system.bus.dead.get(f"0/{entry_id}")
    assert [entry.record.query_id for entry in await system.bus.dead.list()] == [failed.query_id]
