"""A watch that makes spans of deliveries, by the conventions for messaging and for agents.

A hop is three spans, made at once when it is settled: `process`, child of the span that sent its message; within it
`invoke_agent` and `send`. Their ids are derived: the one of `send` stands in the message that was sent, so a
redelivery's message is the same, and the parent of a handler's own spans is known before there is a span.
No text, no user: what a span says is what a log line says.
"""

import hashlib
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple

from opentelemetry.context import attach
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue

from bus import Became, Handling, Hop
from contracts import TOPOLOGY, ids

from .exporting import Tracing
from .sampling import Decide, deciding, is_derived
from .wanted import SYSTEM

SCOPE = InstrumentationScope("groundwire")
_UNSET, _FAILED = Status(StatusCode.UNSET), Status(StatusCode.ERROR)
_SAMPLED, _NOT_SAMPLED = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)
_FAILURES = frozenset({"retried", "dead"})


def watch_of(stage: str, tracing: Tracing) -> "SpanWatch":
    """The watch of a stage's worker, as the sampler of the variables decides."""
    provider = tracing.provider
    return SpanWatch(stage, tracing.processor, provider.resource, deciding(provider.sampler))


class Ids(NamedTuple):
    """Of a delivery's spans, as numbers."""

    trace: int
    parent: int
    process: int
    agent: int


class SpanWatch:
    """Makes the spans of one stage."""

    def __init__(
        self,
        stage: str,
        processor: SpanProcessor,
        resource: Resource,
        decide: Decide,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        found = TOPOLOGY.stage(stage)
        self._stage, self._consumes = stage, found.consumes
        self._is_entry = found is TOPOLOGY.entry
        self._export = processor.on_end
        self._resource = resource
        self._decide = decide
        self._clock_ns = clock_ns
        self.started: Callable[[Callable[[], Handling]], None] | None = self._activate
        self.is_measuring = False

    def lagged(self, seconds: float, /) -> None:
        """Nothing: it is measured, not traced."""

    def settled(self, hop: Hop, /) -> None:
        """Make and export the spans of a delivery that is sampled."""
        if not self._decide(hop.traceparent, hop.query_id):
            return
        of, became = hop.tell(), hop.became
        now_ns = self._clock_ns()
        began_ns = now_ns
        if hop.started:
            began_ns -= int((time.perf_counter() - hop.started) * 1e9)
        handled_ns = began_ns + int(hop.handled_s * 1e9)
        found = _ids(of)
        state = _state(of)
        sender = SpanContext(found.trace, found.parent, True, _SAMPLED, state)
        process = SpanContext(found.trace, found.process, False, _SAMPLED, state)
        is_failed = became.outcome in _FAILURES
        # The parent of a query that nobody traced before is a span that there never was.
        is_root = self._is_entry and is_derived(hop.traceparent, hop.query_id)
        parent = None if is_root else sender

        def make(
            name: str,
            kind: SpanKind,
            own: SpanContext,
            within: SpanContext | None,
            attributes: dict[str, AttributeValue],
            times: tuple[int, int],
            *,
            links: tuple[Link, ...] = (),
            status: Status = _UNSET,
        ) -> None:
            span = ReadableSpan(
                name=name,
                context=own,
                parent=within,
                resource=self._resource,
                attributes=attributes,
                links=links,
                kind=kind,
                status=status,
                start_time=times[0],
                end_time=times[1],
                instrumentation_scope=SCOPE,
            )
            self._export(span)

        if hop.started:
            make(
                f"invoke_agent {self._stage}",
                SpanKind.INTERNAL,
                SpanContext(found.trace, found.agent, False, _SAMPLED, state),
                process,
                _of_agent(self._stage, became.error),
                (began_ns, handled_ns),
                status=_FAILED if became.error else _UNSET,
            )
        if became.destination:
            message_id = ids.envelope_id(of.message_id, _source(became, of.stage))
            make(
                f"send {became.destination}",
                SpanKind.PRODUCER,
                SpanContext(found.trace, int(ids.span_id(message_id), 16), False, _SAMPLED, state),
                process,
                _of_message("send", became.destination, of, message_id),
                (handled_ns, now_ns),
            )
        make(
            f"process {self._consumes}",
            SpanKind.CONSUMER,
            process,
            parent,
            _of_message("process", self._consumes, of, of.message_id) | _of_delivery(of, became),
            (began_ns, now_ns),
            links=() if parent is None else (Link(parent),),
            status=_FAILED if is_failed else _UNSET,
        )

    def _activate(self, tell: Callable[[], Handling]) -> None:
        """What a handler's own libraries trace, and what they call, belongs to this delivery."""
        _HANDLED.set((self._decide, tell))
        if _IN_CONTEXT.get() is None:
            _IN_CONTEXT.set(attach(set_span_in_context(_AGENT)))


class _Agent(NonRecordingSpan):
    """The span of whatever agent runs in this task: worked out for whoever asks, which is nobody in most deliveries."""

    def get_span_context(self) -> SpanContext:
        if (handled := _HANDLED.get()) is None:
            return INVALID_SPAN_CONTEXT
        decide, tell = handled
        of = tell()
        if not of.trace_id:
            return INVALID_SPAN_CONTEXT
        found = _ids(of)
        flags = _SAMPLED if decide(of.traceparent, of.query_id) else _NOT_SAMPLED
        return SpanContext(found.trace, found.agent, False, flags, _state(of))


_AGENT = _Agent(INVALID_SPAN_CONTEXT)
_HANDLED: ContextVar[tuple[Decide, Callable[[], Handling]] | None] = ContextVar(
    "handled", default=None
)
_IN_CONTEXT: ContextVar[object] = ContextVar("in_context", default=None)
"""Whether this task has the agent's span active: once for all of its deliveries."""


def _state(of: Handling) -> TraceState | None:
    return None if of.tracestate is None else TraceState.from_header([of.tracestate])


def _ids(of: Handling) -> Ids:
    """Derived from the delivery: each attempt of each entry has its own."""
    name = f"{of.stage} {of.entry} {of.attempt} {of.deliveries} {of.message_id}"
    drawn = hashlib.blake2b(name.encode(), digest_size=16).digest()
    traced = of.traceparent
    return Ids(
        int(traced[3:35], 16),
        int(traced[36:52], 16),
        int.from_bytes(drawn[:8]) or 1,
        int.from_bytes(drawn[8:]) or 1,
    )


def _source(became: Became, stage: str) -> str:
    """What the id of the message that was sent is derived from, beside its cause."""
    return f"{stage}-dead" if became.outcome == "dead" else stage


def _of_message(
    operation: str, stream: str, of: Handling, message_id: str
) -> dict[str, AttributeValue]:
    return {
        "messaging.system": SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": stream,
        "messaging.destination.partition.id": str(of.lane),
        "messaging.message.id": message_id,
        "messaging.message.conversation_id": of.query_id,
    }


def _of_delivery(of: Handling, became: Became) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "messaging.consumer.group.name": of.stage,
        "groundwire.entry": of.entry,
        "groundwire.attempt": of.attempt,
        "groundwire.deliveries": of.deliveries,
        "groundwire.outcome": became.outcome,
    }
    if became.reason or became.error:
        found["error.type"] = became.error or became.reason
    if became.reason:
        found["groundwire.reason"] = became.reason
    return found


def _of_agent(stage: str, error: str) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "groundwire",
        "gen_ai.agent.name": stage,
    }
    if error:
        found["error.type"] = error
    return found
