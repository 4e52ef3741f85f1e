"""Old and new workers side by side: what the old can't read is parked, what the new can read is."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar, Literal

from bus_system import Lines, Running, System, leave, ready, soon

from bus import Worker
from bus.runner import Handler
from contracts import TOPOLOGY, Decoded, Decoder, Intent, Newer, Query, Stage, Value
from contracts.envelope import encode, first_envelope, type_name
from contracts.topology import Topology
from groundwire import noop

pytest_plugins = ("bus_fixtures",)


class Intent2(Value):
    """The next version of an intent: one field more."""

    version: ClassVar[int] = 2

    type: Literal["intent"] = "intent"
    intent: Intent
    tone: str


UNDERSTAND_2 = replace(TOPOLOGY.stage("understand"), emits={Intent2: "intents"})
RETRIEVE_2 = replace(TOPOLOGY.stage("retrieve"), accepts=(Intent, Intent2))


async def understand_2(asked: Query) -> Intent2:
    return Intent2(intent=await noop.understand(asked), tone="calm")


async def retrieve_2(message: Intent | Intent2) -> Value:
    intent = message.intent if isinstance(message, Intent2) else message
    return await noop.retrieve(intent)


def raw(message: Value) -> bytes:
    now = datetime.now(UTC)
    return encode(first_envelope(message, source="test", subject="0-x", time=now, deadline=now))


def start(system: System, stage: Stage, handler: Handler, consumer: str) -> Running:
    log = Lines()
    worker = Worker(
        stage,
        handler,
        backend=system.backend,
        consumer=consumer,
        config=system.config,
        configdigest=consumer,
        log=log,
    )
    return Running(worker, asyncio.create_task(worker.run()), stage.name, consumer, log)


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
        assert found.envelope.data == message
        assert found.envelope.type == type_name(type(message))


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
