"""The spans of a client: `send`, whose context each message carries; in a batch `create` for each of its messages.

They begin where the caller is: within its active span, or with a trace of their own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
    Tracer,
    TracerProvider,
    get_current_span,
    get_tracer,
    use_span,
)
from opentelemetry.util.types import AttributeValue

from bus import Context
from contracts import Query, ids

from .wanted import SYSTEM

if TYPE_CHECKING:
    from .roots import Roots


class ClientSpans:
    """Traces what a client submits, by the application's own provider unless one is given."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = get_tracer("groundwire", tracer_provider=provider)
        self._roots = _roots_of(self._tracer)

    @contextmanager
    def sending(self, stream: str, queries: Sequence[Query], /) -> "Iterator[_Begun]":
        """A span of the submit, and a context for each of its queries that brings none of its own."""
        if len(queries) == 1:
            brings = queries[0].trace is not None
            kind = SpanKind.CLIENT if brings else SpanKind.PRODUCER
            sent = self._begin(f"send {stream}", kind, _of("send", stream))
            with use_span(_active(sent), end_on_exit=True):
                yield _Begun([None if brings else sent])
            return
        begin, name, attributes = self._begin, f"create {stream}", _of("create", stream)
        created = [
            begin(name, SpanKind.PRODUCER, attributes) if query.trace is None else None
            for query in queries
        ]
        # A look at `Span`, an abstract class, costs as much as all else that is done for one that isn't kept.
        kept = [one for one in created if not (one is None or isinstance(one, Context))]
        try:
            with self._tracer.start_as_current_span(
                f"send {stream}",
                kind=SpanKind.CLIENT,
                attributes=_of("send", stream, len(queries)),
                links=[Link(span.get_span_context()) for span in kept],
            ):
                yield _Begun(created)
        finally:
            for span in kept:
                span.end()

    @property
    def _begin(self) -> "Callable[[str, SpanKind, Mapping[str, AttributeValue]], Span | Context]":
        """What begins a span here: where the caller is within none, it begins a trace."""
        if self._roots is None or get_current_span() is not INVALID_SPAN:
            return self._within
        return self._roots.begin

    def _within(self, name: str, kind: SpanKind, attributes: Mapping[str, AttributeValue]) -> Span:
        return self._tracer.start_span(name, kind=kind, attributes=attributes)


class _Begun:
    """What a submit began: a span for each query, or what is left of one; None for a query that brings a context."""

    def __init__(self, begun: "Sequence[Span | Context | None]") -> None:
        self._begun = begun
        self.contexts = [
            one if one is None or isinstance(one, Context) else _context(one) for one in begun
        ]

    def accepted(self, query_ids: Sequence[str], /) -> None:
        """Each knows its message now."""
        for one, query_id in zip(self._begun, query_ids, strict=True):
            if not (one is None or isinstance(one, Context)) and one.is_recording():
                one.set_attribute("messaging.message.id", ids.envelope_id(query_id, "submit"))
                one.set_attribute("messaging.message.conversation_id", query_id)


def _active(begun: "Span | Context") -> Span:
    """What a submit's own libraries find active: below what isn't kept they keep nothing either."""
    if not isinstance(begun, Context):
        return begun
    _, trace_id, span_id, flags = begun.traceparent.split("-")
    of = SpanContext(int(trace_id, 16), int(span_id, 16), False, TraceFlags(int(flags, 16)))
    return NonRecordingSpan(of)


def _roots_of(tracer: Tracer) -> "Roots | None":
    """An application may have the API alone, which keeps nothing."""
    if not hasattr(tracer, "sampler"):
        return None
    from .roots import roots_of

    return roots_of(tracer)


def _context(span: Span) -> Context | None:
    """What the message carries; None where there is no span, and the caller is in none."""
    of = span.get_span_context()
    if not of.is_valid:
        of = get_current_span().get_span_context()
    if not of.is_valid:
        return None
    traceparent = f"00-{of.trace_id:032x}-{of.span_id:016x}-0{of.trace_flags & 3}"
    return Context(traceparent, of.trace_state.to_header() if of.trace_state else None)


def _of(operation: str, stream: str, count: int = 1) -> dict[str, str | int]:
    counted: dict[str, str | int] = {} if count == 1 else {"messaging.batch.message_count": count}
    return counted | {
        "messaging.system": SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": stream,
    }
