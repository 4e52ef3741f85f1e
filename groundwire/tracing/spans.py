"""A watch that makes spans of deliveries, by the conventions for messaging and for agents.

A hop is three spans, made at once when it is settled: `process`, child of the span that sent its message; within it
`invoke_agent` and `send`. Their ids are derived: the one of `send` stands in the message that was sent, so a
redelivery's message is the same, and the parent of a handler's own spans is known before there is a span.
No text, no user: what a span says is what a log line says.
"""

import hashlib
import time
from collections.abc import Callable
from typing import NamedTuple

from opentelemetry.context import attach
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
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

from bus import Handling, Hop
from contracts import TOPOLOGY, ids

from .exporting import Tracing
from .sampling import Decide, deciding
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
        self.started: Callable[[Handling], None] | None = self._activate
        self.is_measuring = False

    def lagged(self, seconds: float, /) -> None:
        """Nothing: it is measured, not traced."""

    def settled(self, hop: Hop, /) -> None:
        """Make and export the spans of a delivery that is sampled."""
        of = hop.of
        decision = self._decide(of)
        if decision is None or not decision.is_sampled:
            return
        now_ns = self._clock_ns()
        began_ns = now_ns
        if hop.started:
            began_ns -= int((time.perf_counter() - hop.started) * 1e9)
        handled_ns = began_ns + int(hop.handled_s * 1e9)
        found = _ids(of)
        state = None if of.tracestate is None else TraceState.from_header([of.tracestate])
        sender = SpanContext(found.trace, found.parent, True, _SAMPLED, state)
        process = SpanContext(found.trace, found.process, False, _SAMPLED, state)
        is_failed = hop.outcome in _FAILURES
        # The parent of a query that nobody traced before is a span that there never was.
        parent = None if decision.is_root and self._is_entry else sender

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
                _of_agent(hop),
                (began_ns, handled_ns),
                status=_FAILED if hop.error else _UNSET,
            )
        if hop.destination:
            message_id = ids.envelope_id(of.message_id, _source(hop))
            make(
                f"send {hop.destination}",
                SpanKind.PRODUCER,
                SpanContext(found.trace, int(ids.span_id(message_id), 16), False, _SAMPLED, state),
                process,
                _of_message("send", hop.destination, of, message_id),
                (handled_ns, now_ns),
            )
        make(
            f"process {self._consumes}",
            SpanKind.CONSUMER,
            process,
            parent,
            _of_message("process", self._consumes, of, of.message_id) | _of_delivery(hop),
            (began_ns, now_ns),
            links=() if parent is None else (Link(parent),),
            status=_FAILED if is_failed else _UNSET,
        )

    def _activate(self, of: Handling) -> None:
        """What a handler's own libraries trace, and what they call, belongs to this delivery."""
        decision = self._decide(of)
        if decision is None:
            return
        found = _ids(of)
        flags = _SAMPLED if decision.is_sampled else _NOT_SAMPLED
        state = None if of.tracestate is None else TraceState.from_header([of.tracestate])
        agent = SpanContext(found.trace, found.agent, False, flags, state)
        attach(set_span_in_context(NonRecordingSpan(agent)))  # until the task's next delivery


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


def _source(hop: Hop) -> str:
    """What the id of the message that was sent is derived from, beside its cause."""
    return f"{hop.of.stage}-dead" if hop.outcome == "dead" else hop.of.stage


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


def _of_delivery(hop: Hop) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "messaging.consumer.group.name": hop.of.stage,
        "groundwire.entry": hop.of.entry,
        "groundwire.attempt": hop.of.attempt,
        "groundwire.deliveries": hop.of.deliveries,
        "groundwire.outcome": hop.outcome,
    }
    if hop.reason or hop.error:
        found["error.type"] = hop.error or hop.reason
    if hop.reason:
        found["groundwire.reason"] = hop.reason
    return found


def _of_agent(hop: Hop) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "groundwire",
        "gen_ai.agent.name": hop.of.stage,
    }
    if hop.error:
        found["error.type"] = hop.error
    return found
