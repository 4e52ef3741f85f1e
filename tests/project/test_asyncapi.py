"""docs/asyncapi.json: what `groundwire asyncapi` prints, and what really travels."""

import json
from typing import Any

from bus_system import STAGES, FakeBackend, System, query, soon
from jsonschema import Draft7Validator

from agents.pipeline import Trace
from bus.delivery import fields_of
from bus.keys import Keys
from contracts import OUTCOMES, TOPOLOGY, Clarification, Permanent, Rejected, Value
from contracts.envelope import type_name
from groundwire.cli.asyncapi import text
from groundwire.wiring import build_pipeline

from .repository import ROOT

PATH = ROOT / "docs" / "asyncapi.json"
DOCUMENT: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
MESSAGES: dict[str, Any] = DOCUMENT["components"]["messages"]


def at(reference: str) -> Any:
    """What a reference of the document leads to."""
    found: Any = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


def references(value: object) -> list[str]:
    """All references in a part of the document."""
    if isinstance(value, list):
        return [found for item in value for found in references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for item in value.values() for found in references(item)]


def validate(schema: object, value: object) -> None:
    """Check a value against a schema of the document."""
    rooted = {"allOf": [schema], "components": DOCUMENT["components"]}
    Draft7Validator(rooted).validate(value)


def validate_entry(stream: str, fields: dict[bytes, bytes]) -> str:
    """Check an entry against the message that it should be on its stream; returns the message's name."""
    body = json.loads(fields.get(b"event") or fields[b"record"])
    names = set(DOCUMENT["channels"][stream]["messages"])
    name = body["type"] if body.get("specversion") else (names - {"bare"}).pop()
    assert name in names
    validate(MESSAGES[name]["payload"], body)
    beside = {field.decode() for field in fields} - {"event", "record"}
    assert beside <= set(MESSAGES[name]["headers"]["properties"])
    return str(name)


def test_the_committed_document_is_what_is_printed() -> None:
    """A change of topology or contracts shows in docs/asyncapi.json: `groundwire asyncapi > docs/asyncapi.json`."""
    assert PATH.read_text(encoding="utf-8") == text() + "\n"


def test_every_reference_of_the_document_leads_somewhere() -> None:
    """No generator stumbles over a name that isn't there."""
    for reference in references(DOCUMENT):
        assert at(reference), reference


def test_the_document_tells_the_topology() -> None:
    """Each stream is a channel at its key, with what its stage takes; each stage does what its row says."""
    addresses = {name: channel["address"] for name, channel in DOCUMENT["channels"].items()}
    streams = (*TOPOLOGY.work_streams, *(f"results.{name}" for name in OUTCOMES), "events", "dead")
    assert {name: address.replace("{lane}", "{0}") for name, address in addresses.items()} == {
        name: Keys(0).of(name) for name in streams
    }
    for stage in TOPOLOGY.stages:
        taken = DOCUMENT["channels"][stage.consumes]["messages"].keys() - {"bare"}
        assert taken == {type_name(kind) for kind in stage.accepts}
        sent = {
            operation["channel"]["$ref"].rpartition("/")[2]
            for name, operation in DOCUMENT["operations"].items()
            if name.startswith(f"{stage.name}.send.")
        }
        results = {f"results.{name}" for name in (OUTCOMES if stage.is_last else ["failed"])}
        assert sent == {*stage.next_streams, *results, "events", "dead"}


async def test_what_lies_on_the_streams_fits_the_document() -> None:
    """Every entry that the bus writes, of each stream, is a message of its channel, and so is a bare question."""
    seen = set()
    bare = {"text": "why?", "session_id": "s", "labels": "public"}
    validate(MESSAGES["bare"]["payload"], bare)

    async def fail(_: Any) -> Value:
        raise Permanent("no")

    async with System(FakeBackend()) as system:
        await system.bus.submit(query())
        await system.add("queries", *(part for pair in bare.items() for part in pair))
        for stage, stream in zip(STAGES, TOPOLOGY.work_streams, strict=True):
            for _, flat in await system.call("XRANGE", system.keys.of(stream), "-", "+"):
                fields = fields_of(flat)
                if b"text" not in fields:
                    seen.add(validate_entry(stream, fields))
            async with system.running(stage):
                await soon(lambda stream=stream: emptied(system, stream))  # type: ignore[misc]
        await system.bus.submit(query())
        async with system.running("understand", handlers={"understand": fail}):
            await soon(system.dead)
        for stream in ("results.answered", "results.failed", "events", "dead"):
            for _, flat in await system.call("XRANGE", system.keys.of(stream), "-", "+"):
                seen.add(validate_entry(stream, fields_of(flat)))
    assert {"dead", "event", "groundwire.response.v1", "groundwire.draft.v1"} <= seen


async def emptied(system: System, stream: str) -> bool:
    """Whether a stream holds nothing."""
    return await system.backlog(stream) == 0


async def test_messages_of_real_agents_fit_the_document() -> None:
    """What the five agents make of real documents, answered, refused, asked back and rejected, fits the schemas."""
    pipeline = build_pipeline("reference", ROOT / "examples" / "handbook")
    answered = await pipeline.run("Can I get a refund on an annual plan?")
    refused = await pipeline.run("What is the capital of France?")
    unclear = Clarification(intent=answered.intent, options=("monthly", "annual"))
    assert answered.verdict is not None
    checks = answered.verdict.checks
    rejected = Rejected(intent=answered.intent, corpus_version="v", checks=checks)
    for message in (
        *messages_of(answered),
        *messages_of(refused),
        unclear,
        await pipeline.format(unclear),
        rejected,
        await pipeline.format(rejected),
    ):
        envelope = at(MESSAGES[type_name(type(message))]["payload"]["$ref"])
        validate(envelope["properties"]["data"], json.loads(message.model_dump_json()))


def messages_of(trace: Trace) -> list[Value]:
    """Everything that was made of a query."""
    made = (trace.query, trace.intent, trace.context, trace.draft, trace.verdict, trace.response)
    return [message for message in made if message is not None]
