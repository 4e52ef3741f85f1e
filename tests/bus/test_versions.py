"""Old and new workers side by side: what the old can't read is parked, what the new can read is."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bus_system import NOOP, STAGES, Running, System, leave, query, ready, soon
from bus_versions import RETRIEVE_2, UNDERSTAND_2, Intent2, retrieve_2, start, understand_2

from bus.delivery import fields_of
from bus.runner import Handler
from contracts import TOPOLOGY, Decoded, Decoder, Intent, Newer, Permanent, Query, Stage, Value
from contracts.envelope import encode, first_envelope, type_name
from contracts.topology import Topology
from groundwire import noop

pytest_plugins = ("bus_fixtures",)


def raw(message: Value) -> bytes:
    now = datetime.now(UTC)
    return encode(first_envelope(message, source="test", subject="0-x", time=now, deadline=now))


async def an_intent() -> Intent:
    return await noop.understand(Query(query_id="0-x", text="why?", session_id="s"))


async def test_a_decoder_reads_all_versions_that_its_stage_accepts() -> None:
    """The newest version of a type is tried first, an older one is found by the envelope's type."""
    old = await an_intent()
    new = Intent2(intent=old, tone="calm")
    decoder = Decoder(RETRIEVE_2)
    for message in (old, new):
        found = decoder.decode(raw(message))
        assert isinstance(found, Decoded)
        assert found.message == message
        assert found.head.type == type_name(type(message))


async def test_a_decoder_knows_a_newer_version_when_it_sees_one() -> None:
    """Version 2 is not wrong to a version-1 worker, only not for it."""
    new = Intent2(intent=await an_intent(), tone="calm")
    assert Decoder(TOPOLOGY.stage("retrieve")).decode(raw(new)) == Newer(2, "0-x")


async def test_a_newer_message_waits_for_a_worker_that_knows_it(system: System) -> None:
    """Parked at no cost and counted as open; a version-2 worker takes it; old ones keep working."""
    system.config = replace(system.config, attempts=1)
    newer = start(system, UNDERSTAND_2, understand_2, "newer")
    await ready(newer)
    async with system.running("retrieve", "synthesize", "critic", "format"):
        query_id = await system.bus.submit(Query(text="why?", session_id="s"))

        async def is_parked() -> bool:
            return (await system.verification()).parked == 1

        await soon(is_parked)
        found = await system.verification()
        assert found.holds
        assert found.open == 1
        await leave(newer)
        async with system.running("understand"):
            assert (await system.ask()).status == "approved_fallback"  # the old way still works
        knowing = start(system, RETRIEVE_2, retrieve_2, "knowing")
        await ready(knowing)
        response = await system.bus.result(query_id, timeout_s=20)
        assert response.status == "approved_fallback"
        await system.settled()
        assert (await system.verification()).parked == 0
        await leave(knowing)
    digests = {seen.event.config_digest for seen in await system.bus.trace(query_id)}
    assert {"newer", "knowing"} <= digests, "each hop names its configuration"


async def test_dead_letters_of_both_streams_keep_their_own_bytes(system: System) -> None:
    """Streams number their entries by the millisecond, so two of one stage may have the same number."""

    async def refuse(_: Value) -> Value:
        raise Permanent("no")

    await system.call("SADD", system.keys.parked, "intents:v2")
    intent = await an_intent()
    messages: dict[str, Value] = {"intents": intent, "intents:v2": Intent2(intent=intent, tone="")}
    for stream, message in messages.items():
        now = datetime.now(UTC)
        later = now + timedelta(seconds=60)
        await system.call("ZADD", system.keys.open, int(later.timestamp() * 1000), stream)
        await system.call("HINCRBY", system.keys.counters, "accepted", 1)
        event = encode(
            first_envelope(message, source="test", subject=stream, time=now, deadline=later)
        )
        await system.call("XADD", system.keys.of(stream), "1-0", "event", event)
    knowing = start(system, RETRIEVE_2, refuse, "knowing")
    await ready(knowing)
    await soon(lambda: _are_dead(system, 2))
    await leave(knowing)
    for entry in await system.bus.dead.list():
        assert entry.record.entry_id == "1-0"
        assert await system.bus.dead.replay(entry.id) == entry.record.query_id
    assert (await system.verification()).holds


async def _are_dead(system: System, count: int) -> bool:
    return len(await system.dead()) == count


async def test_a_stranger_s_newer_message_is_a_dead_letter(system: System) -> None:
    """Only what was accepted is worth waiting for: else the law would never balance again."""
    new = Intent2(intent=await an_intent(), tone="calm")
    async with system.running():
        await system.add("intents", "event", raw(new))

        async def is_dead() -> bool:
            return len(await system.dead()) == 1

        await soon(is_dead)
        found = await system.settled()
    assert (found.parked, found.outcomes["failed"]) == (0, 1)


def test_a_topology_may_hold_both_versions() -> None:
    """One table describes the old and the new flow."""
    both = Topology((UNDERSTAND_2, RETRIEVE_2, *TOPOLOGY.stages[2:]))
    assert both.stage("retrieve").accepts == (Intent, Intent2)


NEW_STAGES: dict[str, tuple[Stage, Handler]] = {
    "understand": (UNDERSTAND_2, understand_2),
    "retrieve": (RETRIEVE_2, retrieve_2),
}


async def workers(system: System, digest: str, stages: Sequence[str] = STAGES) -> list[Running]:
    """Ready workers of one release; the new one has a version-2 message between its first two stages."""
    started = []
    for name in stages:
        stage, handler = TOPOLOGY.stage(name), NOOP[name]
        if digest == "new" and name in NEW_STAGES:
            stage, handler = NEW_STAGES[name]
        started.append(start(system, stage, handler, digest))
    for running in started:
        await ready(running)
    return started


async def digests(system: System) -> dict[str, str]:
    """Of each result on the stream: the configuration that it says it was made with."""
    entries = await system.call("XRANGE", system.keys.of("results.answered"), "-", "+")
    envelopes = [json.loads(fields_of(flat)[b"event"]) for _, flat in entries]
    return {envelope["subject"]: envelope["configdigest"] for envelope in envelopes}


async def test_a_rolling_update_loses_nothing_and_each_result_names_its_digest(
    system: System,
) -> None:
    """Old alone, both side by side with version-2 messages parked meanwhile, new alone."""

    async def submit(count: int = 40) -> list[str]:
        return await system.bus.submit_many([query(str(number)) for number in range(count)])

    async def one_more_is_parked() -> bool:
        mixed.extend(await submit(1))
        return (await system.verification()).parked > 0

    old = await workers(system, "old")
    first = await submit()
    await system.settled()
    new = await workers(system, "new", ["understand"])
    mixed = await submit()
    await soon(one_more_is_parked)
    found = await system.verification()
    assert found.holds
    assert found.open >= found.parked > 0
    new += await workers(system, "new", STAGES[1:])
    mixed += await submit()
    for running in old:
        await leave(running)
    await system.settled()
    last = await submit()
    found = await system.settled()
    named = await digests(system)
    for query_id in (first[0], mixed[0], last[0]):
        hops = [seen.event.config_digest for seen in await system.bus.trace(query_id)]
        assert hops[-1] == named[query_id]
    for running in new:
        await leave(running)
    assert set(named) == {*first, *mixed, *last}
    assert found.outcomes["answered"] == found.accepted == len(named)
    assert {named[query_id] for query_id in first} == {"old"}
    assert {named[query_id] for query_id in mixed} <= {"old", "new"}
    assert {named[query_id] for query_id in last} == {"new"}
