"""A second version of one message, and the two stages that know it: what a rolling update looks like to the bus."""

import asyncio
from dataclasses import replace
from typing import ClassVar, Literal

from bus_system import Lines, Running, System

from bus import Worker
from bus.runner import Handler
from contracts import TOPOLOGY, Intent, Query, Stage, Value
from groundwire import noop


class Intent2(Value):
    """The next version of an intent: one field more."""

    version: ClassVar[int] = 2

    type: Literal["intent"] = "intent"
    intent: Intent
    tone: str


UNDERSTAND_2 = replace(TOPOLOGY.stage("understand"), emits={Intent2: "intents"})
RETRIEVE_2 = replace(TOPOLOGY.stage("retrieve"), accepts=(Intent, Intent2))


async def understand_2(asked: Query) -> Intent2:
    """Makes an intent of version 2."""
    return Intent2(intent=await noop.understand(asked), tone="calm")


async def retrieve_2(message: Intent | Intent2) -> Value:
    """Reads both versions."""
    intent = message.intent if isinstance(message, Intent2) else message
    return await noop.retrieve(intent)


def start(system: System, stage: Stage, handler: Handler, consumer: str) -> Running:
    """A worker of a stage that the topology doesn't know, whose configuration is named like it."""
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
