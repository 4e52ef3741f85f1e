"""What handlers do wrong: retried with a delay, or ended as one dead letter, and nothing of their words leaves."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from bus_system import NOOP, System, query, soon
from desk import Desk

from contracts import Invalid, Permanent, Query, Transient
from groundwire import noop

pytest_plugins = ("bus_fixtures",)


class Failing:
    """A `retrieve` that raises so many times a query before it works; it remembers when it ran."""

    def __init__(self, error: Callable[[], BaseException], times: int = 1_000) -> None:
        self.ran: dict[str, list[float]] = {}
        self._error = error
        self._times = times

    async def __call__(self, intent: Any) -> Any:
        """Raise, or do nothing well."""
        runs = self.ran.setdefault(intent.query.query_id, [])
        runs.append(time.monotonic())
        if len(runs) <= self._times:
            raise self._error()
        return await noop.retrieve(intent)

    @property
    def runs(self) -> int:
        """How often it ran."""
        return sum(map(len, self.ran.values()))


@pytest.mark.parametrize("error", [Transient, ValueError, TimeoutError, ConnectionError])
async def test_what_may_pass_is_tried_again_and_succeeds(
    system: System, error: type[Exception]
) -> None:
    """Twice it fails, then there is one answer, and nothing dead."""
    handler = Failing(error, times=2)
    async with system.running(handlers={"retrieve": handler}):
        assert (await system.ask()).status == "approved_fallback"
        found = await system.settled()
    assert handler.runs == 3
    assert found.outcomes["failed"] == 0
    assert await system.counter("retried") == 2


class Panic(BaseException):
    """As libraries written in Rust raise it."""


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit, Panic])
async def test_what_is_no_exception_is_a_handler_s_failure_too(
    system: System, error: type[BaseException]
) -> None:
    """What it waited for was cancelled, a library exits or panics: the worker lives, and its only runner goes on."""
    failing = Failing(lambda: error("90 days, guaranteed"))

    async def handler(intent: Any) -> Any:
        return await (failing if intent.query.text == "bad" else noop.retrieve)(intent)

    async with system.running(handlers={"retrieve": handler}, concurrency=1) as workers:
        assert (await system.ask("bad")).status == "failed"
        assert (await system.ask("good")).status == "approved_fallback"
        await system.settled()
        assert "guaranteed" not in repr(workers["retrieve"].log.lines)
    [record] = await system.dead()
    assert (record.reason, record.error, failing.runs) == ("attempts", error.__name__, 5)
    assert b"guaranteed" not in await system.everything()


async def test_a_retry_waits_its_delay(system: System) -> None:
    """Not before it is due, by the server's clock; about a tick later."""
    handler = Failing(Transient, times=1)
    async with (
        system.running("understand", "synthesize", "critic", "format"),
        system.running(
            "retrieve",
            handlers={"retrieve": handler},
            retry_base_s=0.4,
            retry_cap_s=1.0,
            jitter=lambda: 0.99,
        ),
    ):
        await system.ask()
        await system.settled()
    [[first, second]] = handler.ran.values()
    assert 0.38 < second - first < 1.5


async def test_five_attempts_are_a_dead_letter(system: System) -> None:
    """The handler runs five times, not six; the asker gets an honest failure."""
    handler = Failing(Transient)
    async with system.running(handlers={"retrieve": handler}):
        failed = await system.ask()
        await system.settled()
    [record] = await system.dead()
    assert failed.status == "failed"
    assert handler.runs == 5
    assert (record.reason, record.attempts, record.error) == ("attempts", 5, "Transient")


@pytest.mark.parametrize(("error", "reason"), [(Permanent, "permanent"), (Invalid, "invalid")])
async def test_what_will_not_pass_is_a_dead_letter_at_once(
    system: System, error: type[Exception], reason: str
) -> None:
    """One run, one failed result."""
    handler = Failing(error)
    async with system.running(handlers={"retrieve": handler}):
        assert (await system.ask()).status == "failed"
        await system.settled()
    [record] = await system.dead()
    assert (handler.runs, record.reason) == (1, reason)


@pytest.mark.parametrize("stage", NOOP)
async def test_what_a_stage_may_not_emit_is_a_dead_letter(system: System, stage: str) -> None:
    """The return type picks the stream: another type, or none, has none."""
    wrong = iter([None, "a text", query()])

    async def handler(_: Any) -> Any:
        return next(wrong)

    async with system.running(handlers={stage: handler}):
        for _ in range(3):
            assert (await system.ask()).status == "failed"
        await system.settled()
    assert [(r.stage, r.reason) for r in await system.dead()] == [(stage, "permanent")] * 3


@pytest.mark.parametrize("stage", NOOP)
async def test_a_message_about_another_query_is_a_dead_letter(system: System, stage: str) -> None:
    """A handler that mixes up what it holds gives nobody the answer to another one's question."""
    first: list[Any] = []

    async def handler(message: Any) -> Any:
        first.append(message)
        return await NOOP[stage](first[0])

    async with system.running(handlers={stage: handler}):
        statuses = [(await system.ask()).status for _ in range(2)]
        await system.settled()
    assert statuses == ["approved_fallback", "failed"]
    [record] = await system.dead()
    assert (record.stage, record.reason) == (stage, "permanent")


@pytest.mark.parametrize("stage", ["retrieve", "synthesize", "critic"])
async def test_a_message_with_another_intent_is_a_dead_letter(system: System, stage: str) -> None:
    """A label goes from there into the result, and no critic could tell it from the one that was understood."""

    async def handler(message: Any) -> Any:
        made: Any = await NOOP[stage](message)
        intent = made.intent.model_copy(update={"label": "90 days, guaranteed"})
        return made.model_copy(update={"intent": intent})

    async with system.running(handlers={stage: handler}):
        failed = await system.ask()
        await system.settled()
    assert (failed.status, failed.label) == ("failed", "failed")
    assert b"guaranteed" not in await system.everything()


async def test_a_deadline_that_passed_is_a_dead_letter_before_the_handler(system: System) -> None:
    """Work nobody waits for any more isn't done."""
    ran = []

    async def understand(asked: Query) -> Any:
        ran.append(asked)
        return await noop.understand(asked)

    async with System(system.backend, _short(system)) as short:
        query_id = await short.bus.submit(query())
    await asyncio.sleep(0.2)
    async with system.running(handlers={"understand": understand}):
        assert (await system.bus.result(query_id)).status == "failed"
        await system.settled()
    assert [record.reason for record in await system.dead()] == ["deadline"]
    assert ran == []


def _short(system: System) -> Any:
    from dataclasses import replace

    return replace(system.config, deadline_s=0.1)


async def test_a_retry_past_the_deadline_is_a_dead_letter_now(system: System) -> None:
    """The asker is told at once."""
    handler = Failing(Transient)
    changes: dict[str, Any] = {"retry_base_s": 100.0, "retry_cap_s": 100.0, "jitter": lambda: 0.99}
    async with (
        system.running("understand"),
        system.running("retrieve", handlers={"retrieve": handler}, **changes),
    ):
        assert (await system.ask()).status == "failed"
        await system.settled()
    assert [record.reason for record in await system.dead()] == ["deadline"]


async def test_an_outcome_in_hand_is_settled_even_if_late(system: System) -> None:
    """A deadline that passes while the last handler runs wastes no answer."""

    async def slow(verdict: Any) -> Any:
        await asyncio.sleep(1.6)
        return await noop.format_answer(verdict)

    async with system.running("format", handlers={"format": slow}):
        query_id = await Desk(system, "format").put(deadline_s=1.5)
        assert (await system.bus.result(query_id)).status == "approved_fallback"
        await system.settled()


async def test_a_delivery_too_often_delivered_does_not_run(system: System) -> None:
    """Five workers died of it: the sixth doesn't try, and says so."""
    handler = Failing(ValueError, times=0)
    await system.call("XGROUP", "CREATE", system.keys.of("intents"), "retrieve", "0", "MKSTREAM")
    query_id = await system.bus.submit(query())
    async with system.running("understand"):
        await soon(lambda: _lies(system, "intents"))
    stream = system.keys.of("intents")
    [[_, [[entry_id, _]]]] = await system.call(
        *("XREADGROUP", "GROUP", "retrieve", "ghost", "STREAMS", stream, ">")
    )
    await system.call(
        *("XCLAIM", stream, "retrieve", "ghost", 0, entry_id, "RETRYCOUNT", 5, "JUSTID")
    )
    async with system.running("retrieve", handlers={"retrieve": handler}):
        assert (await system.bus.result(query_id)).status == "failed"
        await system.settled()
    [record] = await system.dead()
    assert (record.reason, record.deliveries) == ("deliveries", 6)
    assert handler.runs == 0


async def _lies(system: System, stream: str) -> bool:
    return await system.backlog(stream) == 1


@pytest.mark.parametrize("stage", NOOP)
async def test_no_word_of_an_exception_leaves_the_handler(system: System, stage: str) -> None:
    """Its class alone is told: in results, records, events and logs."""

    class DraftSaid90Days(Exception):
        pass

    async def handler(message: Any) -> Any:
        try:
            raise ValueError("90 days, guaranteed")
        except ValueError as error:
            raise DraftSaid90Days(f"90 days, guaranteed: {message}") from error

    async with system.running(handlers={stage: handler}) as workers:
        failed = await system.ask()
        await system.settled()
        lines = repr([running.log.lines for running in workers.values()])
    assert failed.status == "failed"
    everything = await system.everything()
    assert b"guaranteed" not in everything
    assert b"DraftSaid90Days" in everything
    assert "guaranteed" not in lines
    assert "DraftSaid90Days" not in failed.model_dump_json()


async def test_a_worker_fails_one_query_among_many(system: System) -> None:
    """The neighbours of a failure are answered."""

    async def retrieve(intent: Any) -> Any:
        if intent.query.text == "7":
            raise Permanent("not this one")
        return await noop.retrieve(intent)

    async with system.running(handlers={"retrieve": retrieve}):
        await system.bus.submit_many([query(str(number)) for number in range(40)])
        found = await system.settled()
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (39, 1)


async def test_a_failed_message_of_ones_own_is_shown(system: System) -> None:
    """The wording is configuration."""
    from bus import Worker
    from contracts import TOPOLOGY

    worker = Worker(
        TOPOLOGY.stage("understand"),
        Failing(Permanent),
        backend=system.backend,
        consumer="me",
        config=system.config,
        failed_message="Es tut uns leid.",
    )
    task = asyncio.create_task(worker.run())
    assert (await system.ask()).display_text == "Es tut uns leid."
    worker.stop()
    await task


async def test_a_result_that_cannot_be_written_is_retried_and_then_dead(system: System) -> None:
    """A lone surrogate in an answer: no crash, an honest failure."""

    async def understand(asked: Query) -> Any:
        intent = await noop.understand(asked)
        return intent.model_copy(update={"cleaned_text": "lone \ud800"})

    async with system.running(handlers={"understand": understand}):
        assert (await system.ask()).status == "failed"
        await system.settled()
    assert [record.reason for record in await system.dead()] == ["attempts"]
