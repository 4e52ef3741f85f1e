import asyncio
from typing import Any

import pytest
from bus_system import NOOP, STAGES, System, format_any, out_of_scope, query, reject, soon

from bus.runner import Handler
from contracts import DraftAnswer, Intent, Query, RetrievedContext
from groundwire import noop

pytest_plugins = ("bus_fixtures",)


async def test_a_question_passes_five_stages_and_leaves_as_one_result(system: System) -> None:
    """One acceptance, five hops, one result, nothing left anywhere."""
    async with system.running():
        response = await system.ask()
        found = await system.settled()
    assert response.status == "approved_fallback"
    assert (found.accepted, found.outcomes["answered"]) == (1, 1)
    assert await system.counter("events") == len(STAGES)
    assert await system.call("XLEN", system.keys.events) == len(STAGES)


async def test_what_is_out_of_scope_leaves_on_its_own_stream(system: System) -> None:
    """`understand` sends it past the middle stages."""
    handlers = {"understand": out_of_scope(), "format": format_any}
    async with system.running("understand", "format", handlers=handlers):
        response = await system.ask()
        found = await system.settled()
    assert response.status == "out_of_scope"
    assert found.outcomes == {"answered": 0, "out_of_scope": 1, "rejected": 0, "failed": 0}


async def test_what_the_critic_rejects_leaves_on_its_own_stream(system: System) -> None:
    """Format gets a verdict without a text."""
    async with system.running(handlers={"critic": reject, "format": format_any}):
        response = await system.ask()
        found = await system.settled()
    assert response.status == "rejected"
    assert found.outcomes == {"answered": 0, "out_of_scope": 0, "rejected": 1, "failed": 0}


async def test_two_hundred_questions_get_two_hundred_results(system: System) -> None:
    """None is lost, none doubled, each carries its own id."""
    questions = [query(f"question {number}") for number in range(200)]
    async with system.running():
        ids = await system.bus.submit_many(questions)
        found = await system.settled()
    assert {response.query_id for response in await system.results("answered")} == set(ids)
    assert found.accepted == found.outcomes["answered"] == 200
    for name in ("queries", "intents", "contexts", "drafts", "verdicts"):
        assert await system.backlog(name) == 0


@pytest.mark.parametrize(
    "order", [STAGES, STAGES[::-1], ("critic", "understand", "format", "retrieve", "synthesize")]
)
async def test_workers_may_start_after_publishing_in_any_order(
    system: System, order: tuple[str, ...]
) -> None:
    """A group is created at the beginning: what was published before is not skipped."""
    ids = [await system.bus.submit(query(str(number))) for number in range(5)]
    async with system.running(*order):
        for query_id in ids:
            assert (await system.bus.result(query_id)).query_id == query_id
        await system.settled()


TEXTS = (
    "",
    "   ",
    "a\x00b",
    "line\r\nline\r",
    "\u0645\u0631\u062d\u0628\u0627 \u200fx",
    "👩\u200d👩\u200d👧 𝔘",
    '\\u0000 "quoted" {json}',
    "\ufeffbom",
    "x" * 8000,
)


async def test_every_text_arrives_at_the_handler_unchanged(system: System) -> None:
    """Blank, NUL, CRLF, right-to-left, emoji, of full length: no silent change."""
    seen: dict[str, str] = {}

    async def understand(asked: Query) -> Any:
        seen[asked.query_id] = asked.text
        return await noop.understand(asked)

    async with system.running(handlers={"understand": understand}):
        ids = await system.bus.submit_many([query(text) for text in TEXTS])
        await system.settled()
    assert tuple(seen[query_id] for query_id in ids) == TEXTS


async def test_a_group_destroyed_under_way_loses_and_repeats_nothing(system: System) -> None:
    """A work stream holds only unfinished work: its group is recreated at 0."""
    started = asyncio.Semaphore(0)
    go = asyncio.Event()
    runs: list[str] = []

    async def retrieve(intent: Any) -> RetrievedContext:
        runs.append(intent.query.query_id)
        started.release()
        await go.wait()
        return await noop.retrieve(intent)

    async with system.running(handlers={"retrieve": retrieve}) as workers:
        ids = await system.bus.submit_many([query(str(number)) for number in range(30)])
        for _ in range(4):
            await started.acquire()
        await system.call("XGROUP", "DESTROY", system.keys.of("intents"), "retrieve")
        go.set()
        found = await system.settled()
        log = workers["retrieve"].log
    assert found.outcomes["answered"] == 30
    assert set(runs) == set(ids)
    assert (log.count("group.recreated"), log.count("read.refused")) == (1, 0)


async def test_a_later_stage_that_is_behind_holds_up_the_earlier_ones(system: System) -> None:
    """Past `backlog_mark` a stage stops reading; what its window holds and one tick's work may follow."""
    go = asyncio.Event()
    most = 0

    async def retrieve(intent: Intent) -> RetrievedContext:
        await asyncio.sleep(0.01)
        return await noop.retrieve(intent)

    async def synthesize(context: RetrievedContext) -> DraftAnswer:
        await go.wait()
        return await noop.synthesize(context)

    limits = {"backlog_mark": 20, "concurrency": 2, "prefetch": 4, "tick_s": 0.02}
    handlers: dict[str, Handler] = {"retrieve": retrieve, "synthesize": synthesize}
    async with system.running(handlers=handlers, **limits):
        await system.bus.submit_many([query(str(number)) for number in range(120)])
        await soon(lambda: _at_least(system, "contexts", 20))
        for _ in range(40):
            most = max(most, await system.backlog("contexts"))
            await asyncio.sleep(0.005)
        go.set()
        await system.settled()
    assert most <= 50, most


async def _at_least(system: System, stream: str, entries: int) -> bool:
    return await system.backlog(stream) >= entries


async def test_every_hop_leaves_an_event_without_text(system: System) -> None:
    """Events carry digests and numbers: a reader of `events` learns no question."""
    async with system.running():
        await system.ask("a very private question")
        await system.settled()
    assert b"private" not in b"".join(
        b" ".join(flat) for _, flat in await system.call("XRANGE", system.keys.events, "-", "+")
    )


async def test_events_are_numbered_without_a_gap(system: System) -> None:
    """Their `seq` counts from 1 in stream order, so that a ledger sees what it missed."""
    async with system.running():
        await system.bus.submit_many([query(str(number)) for number in range(20)])
        await system.settled()
    entries = await system.call("XRANGE", system.keys.events, "-", "+")
    numbers = [int(dict(zip(flat[::2], flat[1::2], strict=True))[b"seq"]) for _, flat in entries]
    assert numbers == list(range(1, 20 * len(STAGES) + 1))


async def test_all_handlers_are_the_noop_ones() -> None:
    """The suite's table covers the topology."""
    assert set(NOOP) == set(STAGES)
