"""The record of one settle: what happened to a delivery, in digests and numbers, never in text."""

from collections.abc import Mapping
from json.encoder import encode_basestring as _quoted
from typing import Literal

from pydantic import Field
from pydantic_core import to_json

from .base import Value
from .ids import digest

Outcome = Literal["emitted", "answered", "retried", "dead", "parked", "adopted", "dropped"]
DeadReason = Literal[
    "undecodable",
    "unknown_type",
    "invalid",
    "permanent",
    "attempts",
    "deliveries",
    "deadline",
    "expired",
    "too_large",
]


class Event(Value):
    """One hop of one query. Times in microseconds, sizes in bytes, digests SHA-256 prefixes."""

    query_id: str
    stage: str
    type: str
    outcome: Outcome
    attempt: int
    reason: DeadReason | None = None
    error: str | None = None
    time: str
    waited_us: int
    handled_us: int
    input_bytes: int
    output_bytes: int
    input_digest: str
    output_digest: str
    config_digest: str
    scores: dict[str, float] = Field(default_factory=dict)


def encode_event(
    *,
    query_id: str,
    stage: str,
    type: str,  # noqa: A002 - the name of the field
    outcome: Outcome,
    attempt: int,
    time: str,
    waited_us: int,
    handled_us: int,
    input: bytes,  # noqa: A002 - the name of what is measured and digested
    output: bytes,
    config_digest: str,
    scores: Mapping[str, float],
    reason: DeadReason | None = None,
    error: str | None = None,
) -> bytes:
    """The JSON of an `Event`, written without making one: each hop writes one, so each microsecond counts five times.

    `input` and `output` are measured and digested, and go no further. What is None is left out.
    """
    why = "" if reason is None else f'"reason":{_quoted(reason)},'
    what = "" if error is None else f'"error":{_quoted(error)},'
    return (
        f'{{"query_id":{_quoted(query_id)},"stage":"{stage}","type":"{type}","outcome":"{outcome}",'
        f'"attempt":{attempt},{why}{what}"time":"{time}","waited_us":{waited_us},"handled_us":{handled_us},'
        f'"input_bytes":{len(input)},"output_bytes":{len(output)},"input_digest":"{digest(input)}",'
        f'"output_digest":"{digest(output)}","config_digest":"{config_digest}",'
        f'"scores":{to_json(scores).decode() if scores else "{}"}}}'
    ).encode()
