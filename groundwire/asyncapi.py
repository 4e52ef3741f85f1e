"""The AsyncAPI 3 document of every stream and message, made from the topology and the contracts.

It adds nothing that those don't say: what isn't in them is a sentence in a description.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bus.failed import DeadRecord
from bus.keys import Keys
from contracts import OUTCOMES, TOPOLOGY, Event, FormattedResponse, Stage, Topology, Value
from contracts.envelope import envelope_of, type_name

__all__ = ["document"]

Json = dict[str, Any]

_ABOUT = """Questions come in on one stream, five agents pass messages on, results leave on streams of their own.

An entry of a stream has the message as JSON in its field `event` (`record` on `dead`); the headers of a message \
are further fields of that entry. A message above GROUNDWIRE_BLOB_BYTES lies under the key `gw:{lane}:blob:<name>`, \
and its entry has the fields `blob` (the name) and `subject` instead of `event`. A client may also add a bare \
question, in the fields that `bare` lists, and without an envelope.

Work streams are read by the consumer group named like the stage, and hold only unfinished work. \
Observers read `events` and the result streams, and join no group."""

_LANE = {
    "description": "Hash tag of the lane, braces included: `{0}` up to one below GROUNDWIRE_LANES.",
    "default": "{0}",
    "examples": ["{0}", "{1}"],
}
_ATTEMPT = {"attempt": {"type": "integer", "description": "Which attempt this is; absent: 1."}}
_SUPERSEDES = {
    "supersedes": {
        "type": "string",
        "description": "After a replay: the stream entry of the result that this one replaces.",
    }
}
_SEQ = {"seq": {"type": "integer", "description": "Number of the event in its lane, from 0."}}
_BARE = {
    "title": "a question without an envelope",
    "summary": "What any Redis client may XADD: the fields of the entry are the question.",
    "payload": {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string"},
            "session_id": {"type": "string", "default": "anonymous"},
            "query_id": {"type": "string"},
            "user_id": {"type": "string"},
            "feature": {"type": "string"},
            "channel": {"enum": ["text", "markdown", "html", "json"], "default": "text"},
            "labels": {"type": "string", "description": "Separated by commas."},
            "trace": {"type": "string", "description": "A W3C traceparent."},
        },
    },
}


def document(version: str, topology: Topology = TOPOLOGY) -> Json:
    """The document, as JSON that a parser of AsyncAPI 3 reads. `version`: of the installed package."""
    kinds = _kinds(topology)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Groundwire",
            "version": version,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": _channels(topology),
        "operations": _operations(topology),
        "components": {
            "messages": _messages(kinds),
            "schemas": _schemas([*(envelope_of(kind) for kind in kinds), Event, DeadRecord]),
        },
    }


def _kinds(topology: Topology) -> list[type[Value]]:
    """Every message class, in the order of the flow."""
    found = [kind for stage in topology.stages for kind in (*stage.accepts, *stage.emits)]
    return list(dict.fromkeys([*found, FormattedResponse]))


def _channels(topology: Topology) -> Json:
    work = {
        stage.consumes: _channel(
            stage.consumes,
            [type_name(kind) for kind in stage.accepts],
            f"Work of {stage.name}, read by consumer group `{stage.name}`. Messages of a newer version n "
            f"wait on `{stage.consumes}:v<n>` for a worker that knows them.",
        )
        for stage in topology.stages
    }
    work[topology.entry.consumes]["messages"]["bare"] = _message("bare")
    response = type_name(FormattedResponse)
    results = {
        f"results.{outcome}": _channel(f"results.{outcome}", [response], f"Results: {outcome}.")
        for outcome in OUTCOMES
    }
    told = {
        "events": _channel("events", ["event"], "One summary for every settled delivery, no text."),
        "dead": _channel("dead", ["dead"], "One record for every dead letter, without its text."),
    }
    return {**work, **results, **told}


def _channel(name: str, messages: Iterable[str], about: str) -> Json:
    return {
        "address": Keys(0).of(name).replace("{0}", "{lane}"),
        "description": about,
        "parameters": {"lane": _LANE},
        "messages": {message: _message(message) for message in messages},
    }


def _message(name: str) -> Json:
    return {"$ref": f"#/components/messages/{name}"}


def _operations(topology: Topology) -> Json:
    found: Json = {}
    for stage in topology.stages:
        taken = [type_name(kind) for kind in stage.accepts]
        found[f"{stage.name}.receive"] = _operation("receive", stage.consumes, taken)
        for name, messages in _sent(stage).items():
            found[f"{stage.name}.send.{name}"] = _operation("send", name, messages)
    return found


def _sent(stage: Stage) -> dict[str, list[str]]:
    """The streams that a stage's workers write to, with what they write there."""
    sent: dict[str, list[str]] = {}
    for kind, stream in stage.emits.items():
        sent.setdefault(stream, []).append(type_name(kind))
    outcomes = OUTCOMES if stage.is_last else ("failed",)
    sent |= {f"results.{outcome}": [type_name(FormattedResponse)] for outcome in outcomes}
    return {**sent, "dead": ["dead"], "events": ["event"]}


def _operation(action: str, channel: str, messages: Iterable[str]) -> Json:
    place = f"#/channels/{channel}"
    return {
        "action": action,
        "channel": {"$ref": place},
        "messages": [{"$ref": f"{place}/messages/{message}"} for message in messages],
    }


def _messages(kinds: Sequence[type[Value]]) -> Json:
    found = {
        type_name(kind): _described(
            kind,
            envelope_of(kind),
            _SUPERSEDES if kind is FormattedResponse else _ATTEMPT,
        )
        for kind in kinds
    }
    return {
        **found,
        "bare": _BARE,
        "event": _described(Event, Event, _SEQ),
        "dead": _described(DeadRecord, DeadRecord, {"result": {"type": "string"}}),
    }


def _described(kind: type[Value], payload: type[BaseModel], headers: Json) -> Json:
    return {
        "title": kind.__name__,
        "summary": (kind.__doc__ or "").partition("\n")[0],
        "headers": {"type": "object", "properties": headers},
        "payload": {"$ref": f"#/components/schemas/{_schema_name(payload)}"},
    }


def _schemas(models: Sequence[type[BaseModel]]) -> Json:
    """JSON Schemas of what is read: what has a default may be left out."""
    _, found = models_json_schema(
        [(model, "validation") for model in models],
        ref_template="#/components/schemas/{model}",
    )
    schemas: Json = found["$defs"]
    return schemas


def _schema_name(model: type[BaseModel]) -> str:
    """The name that pydantic gives a model's schema."""
    return re.sub(r"[^a-zA-Z0-9.\-_]", "_", model.__name__)
