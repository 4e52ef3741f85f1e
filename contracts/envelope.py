"""The CloudEvents 1.0 envelope that every message travels in, and how bytes become one.

Decoding returns what it found as a value: a message, a newer version, or why it is neither.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from json.encoder import encode_basestring as _quoted
from typing import Annotated, Any, Generic, Literal, TypeVar, Union

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from . import ids
from .base import Value
from .event import DeadReason
from .topology import Stage

T = TypeVar("T", bound=Value)
ShortText = Annotated[str, Field(max_length=300)]


class Envelope(Value, Generic[T]):
    """A message and what is known about its way. Facts about one delivery are never in it."""

    specversion: Literal["1.0"] = "1.0"
    id: ShortText
    source: ShortText
    type: ShortText
    subject: ShortText
    time: AwareDatetime
    datacontenttype: Literal["application/json"] = "application/json"
    traceparent: str
    deadline: AwareDatetime
    causationid: ShortText
    configdigest: str
    data: T


@cache
def type_name(message: type[Value]) -> str:
    """The CloudEvents type of a message class: `groundwire.intent.v1`."""
    return f"groundwire.{message.model_fields['type'].default}.v{message.version}"


@dataclass(frozen=True)
class Decoded:
    """The bytes are a message that the stage accepts."""

    envelope: Envelope[Value]


@dataclass(frozen=True)
class Newer:
    """The bytes are a known message in a newer version."""

    version: int
    subject: str | None


@dataclass(frozen=True)
class Undecodable:
    """The bytes are no message for this stage. `subject`: the query's id, where readable."""

    reason: DeadReason
    detail: str
    subject: str | None


class _Header(BaseModel):
    """What can still be read of an envelope whose data can't."""

    type: str = Field(max_length=200)
    subject: str | None = Field(default=None, max_length=200)


_TYPE = re.compile(r"groundwire\.([a-z_]+)\.v([1-9][0-9]{0,5})")


class Decoder:
    """Reads the envelopes that one stage accepts: the newest version at once, older ones on demand."""

    def __init__(self, stage: Stage) -> None:
        self._types = {type_name(message): message for message in stage.accepts}
        newest: dict[str, type[Value]] = {}
        for message in sorted(stage.accepts, key=lambda message: message.version):
            newest[str(message.model_fields["type"].default)] = message
        self._known: Mapping[str, int] = {tag: kind.version for tag, kind in newest.items()}
        union: Any = Union[tuple(newest.values())]  # noqa: UP007 - built at run time from the table
        if len(newest) > 1:
            union = Annotated[union, Field(discriminator="type")]
        self._adapter: TypeAdapter[Envelope[Value]] = TypeAdapter(Envelope[union])

    def decode(self, raw: bytes) -> Decoded | Newer | Undecodable:
        """Decide what the bytes are; never raises."""
        try:
            envelope = self._adapter.validate_json(raw)
            if self._types.get(envelope.type) is type(envelope.data):
                return Decoded(envelope)
            faults = "data.type: differs from the envelope's type"
        except ValidationError as error:
            faults = fields_at_fault(error)
        return self._look_again(raw, faults)

    def _look_again(self, raw: bytes, faults: str) -> Decoded | Newer | Undecodable:
        """The bytes are no message in its newest version: an older one, or why not."""
        try:
            header = _Header.model_validate_json(raw)
        except ValidationError:
            return Undecodable("undecodable", "not a CloudEvents JSON object", None)
        older = self._types.get(header.type)
        if older is not None and older.version < self._known[older.model_fields["type"].default]:
            try:
                return Decoded(envelope_of(older).model_validate_json(raw))
            except ValidationError as error:
                faults = fields_at_fault(error)
        match = _TYPE.fullmatch(header.type)
        if match is None or match[1] not in self._known:
            return Undecodable("unknown_type", f"type {header.type[:80]!r}", header.subject)
        version = int(match[2])
        if version > self._known[match[1]]:
            return Newer(version, header.subject)
        return Undecodable("invalid", faults, header.subject)


def fields_at_fault(error: ValidationError) -> str:
    """The places and rules that a value breaks, without the value itself."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    places = (
        f"{'.'.join(str(part) for part in fault['loc'])}: {fault['type']}" for fault in faults[:5]
    )
    return "; ".join(places)


@cache
def envelope_of(message: type[Value]) -> type[Envelope[Any]]:
    """The envelope class of a message class: dumping a concrete type is twice as fast."""
    return Envelope[message]  # type: ignore[valid-type]


def first_envelope(
    message: Value,
    *,
    source: str,
    subject: str,
    time: datetime,
    deadline: datetime,
    trace: str | None = None,
) -> Envelope[Value]:
    """The envelope that a query enters by; its id is derived from the query's id."""
    own_id = ids.envelope_id(subject, source)
    return envelope_of(type(message))(
        id=own_id,
        source=f"/groundwire/{source}",
        type=type_name(type(message)),
        subject=subject,
        time=time,
        traceparent=trace or f"00-{own_id.replace('-', '')}-{ids.span_id(own_id)}-01",
        deadline=deadline,
        causationid=subject,
        configdigest="",
        data=message,
    )


def encode_next(
    cause: Envelope[Any], message: Value, *, stage: str, time: str, configdigest: str
) -> bytes:
    """The envelope of what `stage` made of `cause`, as `encode` would write it: same query, trace and deadline.

    `time`: RFC 3339, as `iso` writes it.
    Written without making the object, which was half of what a hop cost: its parts are valid already.
    """
    own_id = ids.envelope_id(cause.id, stage)
    trace = cause.traceparent
    head = (
        f'{{"specversion":"1.0","id":"{own_id}","source":{_quoted(f"/groundwire/{stage}")},'
        f'"type":"{type_name(type(message))}","subject":{_quoted(cause.subject)},"time":"{time}",'
        f'"datacontenttype":"application/json",'
        f'"traceparent":{_quoted(f"{trace[:36]}{ids.span_id(own_id)}{trace[52:]}")},'
        f'"deadline":"{iso(cause.deadline)}","causationid":{_quoted(cause.id)},'
        f'"configdigest":{_quoted(configdigest)},"data":'
    )
    return b"%b%b}" % (head.encode(), message.__pydantic_serializer__.to_json(message))


def iso(time: datetime) -> str:
    """A time as pydantic writes it."""
    text = time.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def encode(envelope: Envelope[Value]) -> bytes:
    """The envelope as JSON, UTF-8."""
    return envelope.__pydantic_serializer__.to_json(envelope)
