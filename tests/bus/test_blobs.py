"""Large messages: the same promises as for small ones, and nothing left behind."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from bus_system import FAST, NOOP, System, format_any, leave, out_of_scope, query, ready, soon
from desk import Desk

from bus import Backend, BusConfig
from bus.delivery import Delivery, Settlement, fields_of
from bus.fate import DeadLetter
from bus.reader import entries_of
from bus.wire import text
from contracts import Invalid, Permanent, Query, RetrievedContext, RetrievedPassage, Transient

pytest_plugins = ("bus_fixtures",)

TINY = replace(FAST, blob_bytes=16)
"""Every message is a large one."""


@pytest.fixture
async def tiny(backend: Backend) -> AsyncIterator[System]:
    """A system in which every message travels as a blob."""
    async with System(backend, TINY) as opened:
        yield opened


async def blobs(system: System) -> list[str]:
    """The names of all blobs that there are."""
    return sorted(text(key) for key in await system.call("KEYS", "*blob:*"))


def passage(size: int) -> RetrievedPassage:
    return RetrievedPassage(
        passage_id="p",
        doc_id="d",
        title="t",
        source="s",
        text="x" * size,
        char_start=0,
        char_end=size,
        keyword_score=0.0,
        vector_score=0.0,
        hybrid_score=0.0,
        hybrid_rank=1,
        final_rank=1,
    )


def retrieving(size: int) -> Any:
    """A `retrieve` that finds one passage of so many characters."""

    async def retrieve(intent: Any) -> RetrievedContext:
        return RetrievedContext(intent=intent, corpus_version="v", passages=(passage(size),))

    return retrieve


def large_query() -> Query:
    """A question whose message has a MiB: its text may not be that long, its labels may."""
    labels = tuple(f"{number:0200d}" for number in range(5_400))
    return Query(text="why?", session_id="s", labels=labels)


async def test_a_query_of_a_mebibyte_passes_five_stages(system: System) -> None:
    """Under the default limits: it travels beside the streams, and nothing is left of it."""
    seen: list[Any] = []

    async def critic(draft: Any) -> Any:
        seen.append(draft.intent.query.labels)
        return await NOOP["critic"](draft)

    asked = large_query()
    query_id = await system.bus.submit(asked)
    assert await blobs(system) == [f"gw:{{0}}:blob:submit:{query_id}"]
    [(_, flat)] = await system.call("XRANGE", system.keys.of("queries"), "-", "+")
    assert set(fields_of(flat)) == {b"blob", b"subject"}
    async with system.running(handlers={"critic": critic}):
        assert (await system.bus.result(query_id)).status == "approved_fallback"
        await system.settled()
    assert seen == [asked.labels]
    assert await blobs(system) == []


async def test_a_context_of_a_mebibyte_is_a_blob_for_one_hop(system: System) -> None:
    """Small messages around it stay in their streams."""
    handlers = {"retrieve": retrieving(1 << 20)}
    async with system.running("understand", "retrieve", handlers=handlers):
        query_id = await system.bus.submit(query())

        async def lies_there() -> bool:
            return await system.backlog("contexts") == 1 and await system.pending("retrieve") == 0

        await soon(lies_there)
        [name] = await blobs(system)
        assert name.startswith("gw:{0}:blob:intents:")
        left_ms = await system.call("PTTL", name)
        assert left_ms > (system.config.raw_ttl_s + system.config.deadline_s - 30) * 1000
        async with system.running("synthesize", "critic", "format"):
            assert (await system.bus.result(query_id)).status == "approved_fallback"
            await system.settled()
    assert await blobs(system) == []


async def test_every_outcome_leaves_no_blob(tiny: System) -> None:
    """Answered, out of scope, failed: a hundred of them, every hop a blob."""

    async def understand(asked: Query) -> Any:
        if asked.text.endswith("1"):
            return await out_of_scope()(asked)
        if asked.text.endswith("2"):
            raise Permanent("no")
        if asked.text.endswith("3"):
            raise ValueError
        return await NOOP["understand"](asked)

    handlers = {"understand": understand, "format": format_any}
    async with tiny.running(handlers=handlers):
        await tiny.bus.submit_many([query(str(number)) for number in range(100)])
        found = await tiny.settled()
    assert found.outcomes == {"answered": 70, "out_of_scope": 10, "rejected": 0, "failed": 20}
    assert await blobs(tiny) == []


async def test_a_bare_entry_is_adopted_as_a_blob(tiny: System) -> None:
    """Whatever way a query comes in."""
    async with tiny.running():
        await tiny.add("queries", "text", "why?", "query_id", "0-mine")
        assert (await tiny.bus.result("0-mine")).status == "approved_fallback"
        await tiny.settled()
    assert await blobs(tiny) == []


async def test_an_entry_with_a_blob_is_not_bare(tiny: System) -> None:
    """The law holds to the entry."""
    await tiny.bus.submit_many([query(), query()])
    await tiny.add("queries", "text", "why?")
    found = await tiny.verification()
    assert found.holds
    assert found.bare == 1


async def test_a_retry_keeps_its_blob(tiny: System) -> None:
    """The message is there again, with its attempt, as often as it takes."""
    seen: list[Any] = []

    async def retrieve(intent: Any) -> Any:
        seen.append(intent)
        if len(seen) < 3:
            raise Transient("later")
        return await NOOP["retrieve"](intent)

    async with tiny.running(handlers={"retrieve": retrieve}):
        assert (await tiny.ask()).status == "approved_fallback"
        await tiny.settled()
    assert seen == [seen[0]] * 3
    assert await blobs(tiny) == []


async def test_a_delayed_retry_is_small(tiny: System) -> None:
    """What waits for its time is the reference, not the message."""
    desk = await Desk(tiny).open()
    await tiny.bus.submit(query())
    [delivery] = await large(desk)
    assert await desk.settle(desk.retry(delivery)) == ["OK"]
    [stored] = await tiny.call("HVALS", tiny.keys.delayed_body("queries"))
    assert stored.startswith(b"2 blob:submit:0-")
    assert len(await blobs(tiny)) == 1
    assert (await tiny.verification()).holds


async def large(desk: Desk) -> list[Delivery]:
    """What lies before the stage, read with its blobs."""
    system = desk.system
    reply = await system.call(
        *("XREADGROUP", "GROUP", desk.stage, desk.consumer),
        *("COUNT", 100, "STREAMS", desk.stream, ">"),
    )
    found = []
    for entry_id, flat in entries_of(reply):
        delivery = Delivery(text(entry_id), fields_of(flat), 1)
        assert delivery.blob is not None
        delivery.fetched = await system.call("GET", system.keys.blob(delivery.blob))
        desk.open_envelope(delivery)
        found.append(delivery)
    return found


async def test_a_parked_message_keeps_its_blob(tiny: System) -> None:
    """On its stream of a newer version, and in the hands of who reads it there."""
    desk = await Desk(tiny).open()
    query_id = await tiny.bus.submit(query())
    [delivery] = await large(desk)
    parked = desk.park(delivery)
    parked = Settlement(parked.delivery, parked.fate, query_id, parked.body)
    assert await desk.settle(parked) == ["OK"]
    [(_, flat)] = await tiny.call("XRANGE", tiny.keys.of("queries:v2"), "-", "+")
    fields = fields_of(flat)
    assert fields[b"subject"].decode() == query_id
    assert await blobs(tiny) == [tiny.keys.blob(fields[b"blob"].decode())]
    assert (await tiny.verification()).holds


async def test_a_settle_again_is_gone_and_leaves_the_blob_of_its_output(tiny: System) -> None:
    """A lost reply: one output, one blob, and the input's is deleted."""
    desk = await Desk(tiny).open()
    await tiny.bus.submit(query())
    [delivery] = await large(desk)
    settlement = await desk.emit(delivery)
    assert await desk.settle(settlement) == ["OK"]
    expected = [tiny.keys.blob(f"queries:{delivery.id}")]
    assert await blobs(tiny) == expected
    assert await desk.settle(settlement) == ["GONE"]
    assert await blobs(tiny) == expected
    assert await tiny.call("GET", expected[0]) == settlement.body


async def test_a_refused_output_leaves_no_blob(tiny: System) -> None:
    """Nothing acknowledged, nothing stored; later the same call is accepted."""
    desk = await Desk(tiny).open()
    await tiny.bus.submit(query())
    [delivery] = await large(desk)
    before = await blobs(tiny)
    await tiny.call("SET", tiny.keys.of("intents"), "wrong")
    settlement = await desk.emit(delivery)
    [status] = await desk.settle(settlement)
    assert status.startswith("REFUSED")
    assert await blobs(tiny) == before
    assert await tiny.pending("understand") == 1
    await tiny.call("DEL", tiny.keys.of("intents"))
    assert await desk.settle(settlement) == ["OK"]


@pytest.mark.server
async def test_a_full_server_refuses_a_blob_before_anything_else(server_url: str) -> None:
    """The blob is the first write: out of memory there, all is as it was."""
    from bus_system import url_backend

    async with System(url_backend(server_url), TINY) as tiny:
        desk = await Desk(tiny).open()
        await tiny.bus.submit(query())
        [delivery] = await large(desk)
        before = await blobs(tiny)
        settlement = await desk.emit(delivery)
        await tiny.call("CONFIG", "SET", "maxmemory", 1)
        try:
            [status] = await desk.settle(settlement)
            with pytest.raises(Transient, match="refused"):
                await tiny.bus.submit(query("another"))
        finally:
            await tiny.call("CONFIG", "SET", "maxmemory", 0)
        assert "OOM" in status
        assert await blobs(tiny) == before
        assert await tiny.deliveries("understand") == {delivery.id: ("me", 1)}
        assert await desk.settle(settlement) == ["OK"]
        assert (await tiny.verification()).holds


async def test_a_dead_letter_keeps_the_whole_message_and_can_be_replayed(tiny: System) -> None:
    """Its blob is gone, its bytes lie under the operator's key; the replay is a blob again."""
    is_cured = False

    async def retrieve(intent: Any) -> Any:
        if not is_cured:
            raise Permanent("not yet")
        return await NOOP["retrieve"](intent)

    async with tiny.running(handlers={"retrieve": retrieve}):
        failed = await tiny.ask("large question")
        assert await blobs(tiny) == []
        [entry] = await tiny.bus.dead.list()
        raw = await tiny.bus.dead.raw(entry.id)
        assert raw is not None
        assert b"large question" in raw
        assert entry.record.bytes == len(raw)
        is_cured = True
        await tiny.bus.dead.replay(entry.id)
        found = await tiny.settled()
    assert (found.replayed, found.outcomes["answered"]) == (1, 1)
    assert (await tiny.bus.result(failed.query_id)).status == "approved_fallback"
    assert await blobs(tiny) == []


async def test_a_message_whose_blob_is_gone_is_a_dead_letter_at_once(tiny: System) -> None:
    """One failed result for its asker, an honest reason for the operator, no second delivery."""
    query_id = await tiny.bus.submit(query())
    await tiny.call("DEL", *await blobs(tiny))
    async with tiny.running():
        assert (await tiny.bus.result(query_id)).status == "failed"
        found = await tiny.settled()
        assert (await tiny.ask()).status == "approved_fallback"
    [record] = await tiny.dead()
    assert (record.reason, record.query_id, record.deliveries) == ("expired", query_id, 1)
    assert found.outcomes["failed"] == 1
    [entry] = await tiny.bus.dead.list()
    with pytest.raises(Invalid, match="discard"):
        await tiny.bus.dead.replay(entry.id)


@pytest.mark.parametrize("name", ["", "no such blob", b"\xff\xfe", "x" * 100_000, "../open"])
@pytest.mark.parametrize("stream", ["queries", "drafts"])
async def test_a_stranger_s_reference_is_a_dead_letter(
    tiny: System, stream: str, name: str | bytes
) -> None:
    """Counted in and out; no worker stumbles."""
    async with tiny.running():
        await tiny.add(stream, "blob", name, "subject", b"\xff")

        async def is_dead() -> bool:
            return len(await tiny.dead()) == 1

        await soon(is_dead)
        found = await tiny.settled()
        assert (await tiny.ask()).status == "approved_fallback"
    assert found.outcomes["failed"] == 1


async def test_a_blob_that_was_overwritten_ends_its_query(tiny: System) -> None:
    """Nothing in it says whose it was; its entry does."""
    query_id = await tiny.bus.submit(query())
    await tiny.call("SET", tiny.keys.blob(f"submit:{query_id}"), "junk")
    async with tiny.running():
        assert (await tiny.bus.result(query_id)).status == "failed"
        found = await tiny.settled()
    assert (found.accepted, found.outcomes["failed"]) == (1, 1)
    assert [record.reason for record in await tiny.dead()] == ["undecodable"]


async def test_a_reference_to_what_is_no_message_is_a_dead_letter(tiny: System) -> None:
    """A blob of another type is as good as none."""
    await tiny.call("LPUSH", tiny.keys.blob("list"), "x")
    async with tiny.running():
        await tiny.add("queries", "blob", "list")

        async def is_dead() -> bool:
            return len(await tiny.dead()) == 1

        await soon(is_dead)
        await tiny.settled()


@pytest.mark.server
async def test_a_killed_worker_s_blob_is_read_by_who_claims_its_entry(server_url: str) -> None:
    """Pending entries of the dead keep their blobs."""
    from bus_system import url_backend

    async with System(url_backend(server_url), TINY) as tiny:
        running = asyncio.Event()

        async def hanging(_: Any) -> Any:
            running.set()
            await asyncio.Event().wait()

        doomed = tiny.start("understand", hanging)
        await ready(doomed)
        query_ids = await tiny.bus.submit_many([query(str(number)) for number in range(20)])
        await running.wait()
        await doomed.vanish()
        async with tiny.running():
            for query_id in query_ids:
                assert (await tiny.bus.result(query_id)).status == "approved_fallback"
            await tiny.settled()
        await leave(doomed)
        assert await blobs(tiny) == []


async def test_entries_whose_read_reply_was_lost_find_their_blobs(tiny: System) -> None:
    """Reconciled by id from the stream, fetched as always."""
    desk = await Desk(tiny, consumer="me").open()
    query_id = await tiny.bus.submit(query())
    await large(desk)  # read under the worker's name, and the reply thrown away
    worker = tiny.start("understand", consumer="me")
    async with tiny.running("retrieve", "synthesize", "critic", "format"):
        assert (await tiny.bus.result(query_id)).status == "approved_fallback"
        await tiny.settled()
    await leave(worker)
    assert await blobs(tiny) == []


async def test_a_large_response_is_on_its_stream_and_under_its_key(tiny: System) -> None:
    """Whoever reads results joins nothing: a result is never a blob."""
    async with tiny.running():
        answered = await tiny.ask()
        await tiny.settled()
    assert await tiny.results("answered") == [answered]
    async for result in tiny.bus.results("answered", after="0"):
        assert result.response == answered
        break


async def test_what_is_too_large_is_refused_at_submit(backend: Backend) -> None:
    """Invalid says how large it is, and how large it may be; nothing is written."""
    async with System(backend, replace(FAST, max_payload_bytes=1_000)) as small:
        with pytest.raises(Invalid, match="1000 are allowed"):
            await small.bus.submit(query("x" * 1_000))
        assert (await small.verification()).accepted == 0
        await small.add("queries", "text", "x" * 1_000)
        async with small.running("understand"):

            async def is_dead() -> bool:
                return len(await small.dead()) == 1

            await soon(is_dead)
            await small.settled()
        assert [record.reason for record in await small.dead()] == ["too_large"]


@pytest.mark.parametrize("stage", ["retrieve", "format"])
async def test_an_output_that_is_too_large_is_a_dead_letter(backend: Backend, stage: str) -> None:
    """A message and a result alike: once, for it would be as large the next time."""
    async with System(backend, replace(FAST, max_payload_bytes=20_000)) as small:

        async def format_large(verdict: Any) -> Any:
            response = await NOOP["format"](verdict)
            return response.model_copy(update={"display_text": "x" * 20_000})

        handlers = {"retrieve": retrieving(20_000), "format": format_large}
        async with small.running(handlers={stage: handlers[stage]}):
            assert (await small.ask()).status == "failed"
            await small.settled()
        [record] = await small.dead()
        assert (record.stage, record.reason, record.attempts) == (stage, "too_large", 1)


async def test_many_large_queries_at_once_are_accepted_in_order(system: System) -> None:
    """More than one call can carry."""
    asked = [large_query() for _ in range(4)]
    query_ids = await system.bus.submit_many([*asked, query(), query()])
    assert len(await blobs(system)) == 4
    async with system.running():
        for query_id in query_ids:
            assert (await system.bus.result(query_id)).status == "approved_fallback"
        found = await system.settled()
    assert found.accepted == 6
    assert await blobs(system) == []


async def test_another_submit_of_the_same_query_stores_nothing(tiny: System) -> None:
    """KNOWN: the blob of the first stays the only one."""
    asked = tiny.bus.named(query())
    assert await tiny.bus.submit(asked) == await tiny.bus.submit(asked)
    assert len(await blobs(tiny)) == 1
    async with tiny.running():
        await tiny.settled()
        await tiny.bus.submit(asked)
    assert await blobs(tiny) == []


def test_a_dead_letter_weighs_what_it_takes_along() -> None:
    """So that a batch of them stays within its bytes."""
    delivery = Delivery("1-0", {b"blob": b"x"}, 1, fetched=b"x" * 100)
    assert Settlement(delivery, DeadLetter("permanent", "E"), "0-q", b"body").size == 104


def test_the_default_limits() -> None:
    """256 KiB in a stream, 16 MiB at all."""
    assert (BusConfig().blob_bytes, BusConfig().max_payload_bytes) == (256 * 1024, 16 * 1024**2)
