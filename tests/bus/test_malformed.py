"""Entries put on a work stream by hand that no one could handle: each ends, and the worker goes on."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from bus_system import NOOP, System, query, soon

from contracts import TOPOLOGY, Value
from contracts.envelope import encode, first_envelope

pytest_plugins = ("bus_fixtures",)

WORK_STREAMS = TOPOLOGY.work_streams
FAR = datetime(2100, 1, 1, tzinfo=UTC)


async def envelope_for(stream: str, query_id: str = "0-q") -> dict[str, Any]:
    """A valid envelope for a stream, as JSON."""
    message: Value = query().model_copy(update={"query_id": query_id})
    for stage in TOPOLOGY.stages:
        if stage.consumes == stream:
            break
        message = await NOOP[stage.name](message)
    envelope = first_envelope(message, source="test", subject=query_id, time=FAR, deadline=FAR)
    found: dict[str, Any] = json.loads(encode(envelope))
    return found


async def ended(system: System, count: int = 1) -> bool:
    """Whether so many entries came to an end that nobody waits for."""
    found = await system.verification()
    return found.outcomes["failed"] + found.dropped >= count


@pytest.mark.parametrize("stream", WORK_STREAMS)
async def test_junk_is_a_dead_letter_and_a_failed_result_at_once(
    system: System, stream: str
) -> None:
    """On every stream: nothing pending, one result, and the next question is answered."""
    async with system.running():
        await system.add(stream, "junk", b"\xff\xfe")
        await soon(lambda: ended(system))
        assert (await system.ask()).status == "approved_fallback"
        found = await system.settled()
    [record] = await system.dead()
    assert (record.deliveries, record.attempts) == (1, 1)
    assert await system.call("GET", record.raw_key) == (b'{"fields_base64": {"junk": "//4="}}')
    assert (found.accepted, found.outcomes["failed"]) == (2, 1)


@pytest.mark.parametrize("stream", WORK_STREAMS)
async def test_a_field_of_the_wrong_type_is_a_dead_letter_of_its_query(
    system: System, stream: str
) -> None:
    """An accepted query whose message broke on its way fails under its own id."""
    broken = await envelope_for(stream)
    broken["data"] = 5
    await system.call("ZADD", system.keys.open, int(FAR.timestamp() * 1000), "0-q")
    await system.call("HINCRBY", system.keys.counters, "accepted", 1)
    async with system.running():
        await system.add(stream, "event", json.dumps(broken))
        failed = await system.bus.result("0-q")
        assert (await system.ask()).status == "approved_fallback"
        found = await system.settled()
    assert (failed.status, failed.query_id) == ("failed", "0-q")
    assert [record.reason for record in await system.dead()] == ["invalid"]
    assert (found.accepted, found.outcomes["failed"]) == (2, 1)


POISON: dict[str, dict[str, Any]] = {
    "a deadline before all time": {"deadline": "0001-01-01T00:00:00"},
    "a time before all time": {"time": "0001-01-01T00:00:00"},
    "a deadline at the end of time": {"deadline": "9999-12-31T23:59:59"},
    "a deadline in the past": {"deadline": "2001-01-01T00:00:00Z"},
    "a deadline as a number": {"deadline": -1},
    "an empty subject": {"subject": "", "deadline": "2001-01-01T00:00:00Z"},
    "a long subject": {"subject": "x" * 300, "deadline": "2001-01-01T00:00:00Z"},
    "a subject with braces": {"subject": "{x}", "deadline": "2001-01-01T00:00:00Z"},
    "a huge subject": {"subject": "x" * 300_000},
    "a long type": {"type": "x" * 300},
    "a type with a version of many digits": {"type": "groundwire.query.v" + "9" * 50},
    "no traceparent": {"traceparent": ""},
    "an unknown attribute of a megabyte": {"x" * 1_000_000: 1},
    "data of another type": {"data": {"type": "nobody"}},
    "a long list": {"data": [0] * 100_000},
}


@pytest.mark.parametrize("stream", ["queries", "verdicts"])
async def test_no_envelope_ends_a_worker(system: System, stream: str) -> None:
    """Whatever its attributes say: one end, no crash, no redelivery, no large event."""
    async with system.running() as workers:
        for poison in POISON.values():
            await system.add(stream, "event", json.dumps(await envelope_for(stream) | poison))
        await soon(lambda: ended(system, len(POISON)))
        assert not any(running.task.done() for running in workers.values())
        assert (await system.ask()).status == "approved_fallback"
        await system.settled()
    for record in await system.dead():
        assert record.deliveries == 1
    longest = max(len(poison.get("subject", "")) for poison in POISON.values())
    for _, flat in await system.call("XRANGE", system.keys.events, "-", "+"):
        assert len(b"".join(flat)) < 5_000 + longest


async def test_an_envelope_that_nobody_submitted_ends_without_a_result(system: System) -> None:
    """A valid message of no open query runs and is dropped: only what was accepted has a result."""
    async with system.running():
        await system.add("queries", "event", json.dumps(await envelope_for("queries")))
        await soon(lambda: ended(system))
        found = await system.settled()
    assert (found.accepted, found.dropped) == (0, 1)
    assert sum(found.outcomes.values()) == 0


async def test_junk_among_questions_holds_up_none_of_them(system: System) -> None:
    """Fifty of each, on every stream: fifty answers, all junk dead, everything exact."""
    async with system.running():
        for number in range(50):
            await system.bus.submit(query(str(number)))
            await system.add(WORK_STREAMS[number % 5], "junk", b"\xff\xfe")
        await soon(lambda: ended(system, 50))
        found = await system.settled()
    assert (found.outcomes["answered"], found.outcomes["failed"]) == (50, 50)
    assert len(await system.dead()) == 50


async def test_an_entry_with_a_strange_attempt_counts_as_the_first(system: System) -> None:
    """The field beside the message is anyone's to write."""
    asked = await system.bus.submit(query())
    [(entry_id, flat)] = await system.call("XRANGE", system.keys.of("queries"), "-", "+")
    await system.call("XDEL", system.keys.of("queries"), entry_id)
    await system.add("queries", "event", flat[1], "attempt", "9" * 400)
    async with system.running():
        assert (await system.bus.result(asked)).query_id == asked
        await system.settled()


async def test_a_message_of_a_newer_version_is_parked_and_stays_open(system: System) -> None:
    """At no cost: workers that know the version will read it."""
    asked = await system.bus.submit(query())
    [(entry_id, flat)] = await system.call("XRANGE", system.keys.of("queries"), "-", "+")
    newer = json.loads(flat[1]) | {"type": "groundwire.query.v2", "data": {"new": True}}
    await system.call("XDEL", system.keys.of("queries"), entry_id)
    await system.add("queries", "event", json.dumps(newer))

    async def parked() -> bool:
        return (await system.verification()).parked == 1

    async with system.running():
        await soon(parked)
        assert (await system.ask()).status == "approved_fallback"
        found = await system.verification()
    assert found.holds
    assert (found.open, found.parked, found.working) == (1, 1, 0)
    [(_, kept)] = await system.call("XRANGE", system.keys.of("queries:v2"), "-", "+")
    assert json.loads(kept[1]) == newer
    assert json.loads(kept[1])["subject"] == asked
