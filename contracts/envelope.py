"""The CloudEvents 1.0 envelope that every message travels in, and how it is written."""

from collections.abc import Container
from datetime import UTC, datetime, timedelta
from functools import cache
from json.encoder import encode_basestring as _quoted
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import AwareDatetime, Field, ValidationError

from . import ids
from .base import Value

T = TypeVar("T", bound=Value)
_EPOCH, _MS = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)
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
    tracestate: str | None = None
    """What the caller's tracing vendors want passed on; left out where there is nothing."""
    deadline: AwareDatetime
    causationid: ShortText
    configdigest: str
    data: T


@cache
def type_name(message: type[Value]) -> str:
    """The CloudEvents type of a message class: `groundwire.intent.v1`."""
    return f"groundwire.{message.model_fields['type'].default}.v{message.version}"


class Head(NamedTuple):
    """What of a message's envelope the next one is written with. Times in milliseconds since the epoch."""

    id: str
    type: str
    subject: str
    traceparent: str
    deadline: str
    """As text: it goes on as it came, and so is neither made a time nor written again."""
    deadline_ms: int
    time_ms: int
    tracestate: str | None = None


def head_of(envelope: Envelope[Any]) -> Head:
    """The head of an envelope at hand."""
    return Head(
        envelope.id,
        envelope.type,
        envelope.subject,
        envelope.traceparent,
        iso(envelope.deadline),
        to_ms(envelope.deadline),
        to_ms(envelope.time),
        envelope.tracestate,
    )


def fields_at_fault(error: ValidationError, known: Container[str] | None = None) -> str:
    """The places and rules that a value breaks, without the value itself.

    `known`: the names that may be told, the others are `?`: a stranger's value may be a name in it.
    """
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    return "; ".join(
        f"{'.'.join(_told(part, known) for part in fault['loc'])}: {fault['type']}"
        for fault in faults
    )


def _told(part: int | str, known: Container[str] | None) -> str:
    return str(part) if isinstance(part, int) or known is None or part in known else "?"


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
    tracestate: str | None = None,
) -> Envelope[Value]:
    """The envelope that a query enters by. Its id is derived from the query's, as is its trace where none is given."""
    own_id = ids.envelope_id(subject, source)
    return envelope_of(type(message))(
        id=own_id,
        source=f"/groundwire/{source}",
        type=type_name(type(message)),
        subject=subject,
        time=time,
        traceparent=trace or f"00-{ids.trace_id(subject)}-{ids.span_id(own_id)}-01",
        tracestate=tracestate,
        deadline=deadline,
        causationid=subject,
        configdigest="",
        data=message,
    )


def encode_next(cause: Head, message: Value, *, stage: str, time: str, configdigest: str) -> bytes:
    """The envelope of what `stage` made of `cause`: same query, trace and deadline.

    `time`: RFC 3339, as `iso` writes it. Of a message between stages, what equals its default is left out: a quarter
    of its bytes, which would be written, stored, digested and parsed to say nothing (7 % of a worker's time).
    Written without making the object, which was half of what a hop cost: its parts are valid already.
    """
    own_id = ids.envelope_id(cause.id, stage)
    trace = cause.traceparent
    kind = type(message)
    state = f'"tracestate":{_quoted(cause.tracestate)},' if cause.tracestate else ""
    head = (
        f'{{"specversion":"1.0","id":"{own_id}",{_origin(stage, kind)},'
        f'"subject":{_quoted(cause.subject)},"time":"{time}",'
        f'"datacontenttype":"application/json",'
        f'"traceparent":{_quoted(f"{trace[:36]}{ids.span_id(own_id)}{trace[52:]}")},{state}'
        f'"deadline":"{cause.deadline}","causationid":{_quoted(cause.id)},'
        f'"configdigest":{_quoted(configdigest)},"data":'
    )
    write = message.__pydantic_serializer__.to_json
    if kind.is_written_in_full:
        return b"%b%b}" % (head.encode(), write(message))
    # The tag is a default too, and a consumer of several kinds tells them apart by it: it is put in again.
    rest = write(message, exclude_defaults=True)[1:]
    return b"%b%b%b%b}" % (head.encode(), _tag(kind), b"," if len(rest) > 1 else b"", rest)


@cache
def _tag(message: type[Value]) -> bytes:
    return f'{{"type":{_quoted(message.model_fields["type"].default)}'.encode()


@cache
def _origin(stage: str, message: type[Value]) -> str:
    """The two attributes that are the same for all messages of a kind from a stage."""
    return f'"source":{_quoted(f"/groundwire/{stage}")},"type":"{type_name(message)}"'


def iso(time: datetime) -> str:
    """A time as pydantic writes it."""
    text = time.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def to_ms(time: datetime) -> int:
    """A time as milliseconds since the epoch."""
    return (time - _EPOCH) // _MS


def encode(envelope: Envelope[Value]) -> bytes:
    """The envelope as JSON, UTF-8."""
    unset = None if envelope.tracestate else {"tracestate"}
    return envelope.__pydantic_serializer__.to_json(envelope, exclude=unset)
