"""Questions put on the stream by any Redis client, without an envelope."""

import pytest
from bus_system import System, query, soon

from contracts import ResultTimeout

pytest_plugins = ("bus_fixtures",)


async def test_a_bare_entry_is_adopted_and_answered(system: System) -> None:
    """Its query_id is the lane and the entry's id, which XADD returned."""
    async with system.running():
        entry_id = await system.add("queries", "text", "why?", "session_id", "s1")
        response = await system.bus.result(f"0-{entry_id}")
        found = await system.settled()
    assert response.session_id == "s1"
    assert (found.accepted, found.outcomes["answered"]) == (1, 1)
    assert await system.counter("adopted") == 1


async def test_a_bare_entry_that_lies_there_is_told_apart(system: System) -> None:
    """Before its adoption it is no open query, and the law holds all the same."""
    await system.add("queries", "text", "why?")
    await system.bus.submit(query())
    found = await system.verification()
    assert (found.open, found.working, found.bare) == (1, 2, 1)
    assert found.holds
    async with system.running():
        assert (await system.settled()).accepted == 2


async def test_a_bare_entry_keeps_its_own_query_id(system: System) -> None:
    """Chosen by the client, who waits for it by that name."""
    async with system.running():
        await system.add("queries", "text", "why?", "query_id", "0-mine")
        assert (await system.bus.result("0-mine")).query_id == "0-mine"
        await system.settled()


@pytest.mark.parametrize("query_id", ["mine", "a:b.c_d-1"])
async def test_a_query_id_needs_no_lane_where_there_is_one(system: System, query_id: str) -> None:
    """Lane 0 is where all bare entries of one lane go."""
    async with system.running():
        await system.add("queries", "text", "why?", "query_id", query_id)
        assert (await system.bus.result(query_id)).query_id == query_id


async def test_a_bare_entry_hides_no_lost_one(system: System) -> None:
    """The sums agree, the law does not hold."""
    await system.bus.submit_many([query("first"), query("second")])
    stream = system.keys.of("queries")
    [(lost, _), _] = await system.call("XRANGE", stream, "-", "+")
    await system.call("XDEL", stream, lost)
    await system.add("queries", "text", "why?")
    found = await system.verification()
    assert (found.open, found.working, found.bare, found.holds) == (2, 2, 1, False)


async def test_a_query_id_that_is_answered_or_open_is_dropped_and_counted(system: System) -> None:
    """No second result, whether it came bare or by submit."""
    async with system.running():
        first = await system.ask()
        await system.add("queries", "text", "again?", "query_id", first.query_id)
        await soon(lambda: _duplicates(system, 1))
        await system.add("queries", "text", "why?", "query_id", "0-mine")
        await system.bus.result("0-mine")
        for _ in range(3):
            await system.add("queries", "text", "again?", "query_id", "0-mine")
        await soon(lambda: _duplicates(system, 4))
        found = await system.settled()
    assert (found.accepted, found.outcomes["answered"]) == (2, 2)


async def test_one_query_id_many_times_at_once_is_one_query(system: System) -> None:
    """Adopted by two workers at once."""
    for _ in range(20):
        await system.add("queries", "text", "why?", "query_id", "0-mine")
    async with system.running(), system.running("understand"):
        await system.bus.result("0-mine")
        await soon(lambda: _duplicates(system, 19))
        found = await system.settled()
    assert found.accepted == 1


async def _duplicates(system: System, count: int) -> bool:
    return await system.counter("duplicates") == count


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (["text", "x" * 8001], "string_too_long"),
        (["text", "x", "colour", "red"], "unknown field"),
        (["text", b"\xff\xfe"], "UTF-8"),
        (["junk", b"\xff\xfe"], "UTF-8"),
        (["session_id", "s"], "text: missing"),
        (["text", "x", "channel", "fax"], "channel"),
        (["text", "y" * 10_000_000], "string_too_long"),
        (["text", "x", "z" * 1_000_000, "long name"], "unknown field"),
    ],
    ids=["long", "unknown", "bytes", "junk", "no text", "channel", "10MB", "1MB name"],
)
async def test_a_bare_entry_that_is_no_question_is_a_dead_letter_and_a_failed_result(
    system: System, fields: list[str | bytes], why: str
) -> None:
    """At once; the asker finds the failure under the id that XADD's reply told; the worker goes on."""
    async with system.running():
        entry_id = await system.add("queries", *fields)
        failed = await system.bus.result(f"0-{entry_id}", timeout_s=30)
        assert failed.status == "failed"
        assert (await system.ask()).status == "approved_fallback"
        found = await system.settled()
    [record] = await system.dead()
    assert record.reason == "invalid"
    assert why in record.error
    assert "colour" not in record.error, "a name may be anybody's text"
    assert len(record.error) <= 500
    assert (found.accepted, found.outcomes["failed"], found.outcomes["answered"]) == (2, 1, 1)
    for _, flat in await system.call("XRANGE", system.keys.events, "-", "+"):
        assert len(b"".join(flat)) < 5_000


async def test_a_failed_bare_entry_does_not_touch_the_query_whose_id_it_names(
    system: System,
) -> None:
    """An invalid entry with an answered query's id fails under its own."""
    async with system.running():
        first = await system.ask()
        await system.add("queries", "text", "x", "colour", "red", "query_id", first.query_id)
        await soon(lambda: _failed(system, 1))
        assert await system.bus.result(first.query_id) == first
        await system.settled()


async def _failed(system: System, count: int) -> bool:
    return await system.counter("failed") == count


async def test_a_bare_entry_on_a_later_stream_is_a_dead_letter(system: System) -> None:
    """Only `queries` takes questions."""
    async with system.running():
        await system.add("intents", "text", "why?")
        await soon(lambda: _failed(system, 1))
        found = await system.settled()
    [record] = await system.dead()
    assert (record.reason, record.stage) == ("undecodable", "retrieve")
    assert found.accepted == 1


async def test_counters_of_the_wrong_type_hold_up_an_adoption(system: System) -> None:
    """Nothing is accepted uncounted: the entry waits until the key is right again."""
    await system.call("SET", system.keys.counters, "wrong")
    async with system.running("understand") as workers:
        entry_id = await system.add("queries", "text", "why?")
        with pytest.raises(ResultTimeout):
            await system.bus.result(f"0-{entry_id}", timeout_s=0.3)
        assert await system.backlog("intents") == 0
        await system.call("DEL", system.keys.counters)
        await soon(lambda: _adopted(system))
        assert workers["understand"].task.done() is False
    assert (await system.verification()).holds


async def _adopted(system: System) -> bool:
    return await system.backlog("intents") == 1
