"""The spans of a client: `send`, whose context each message carries; in a batch `create` for each of its messages.

They begin where the caller is: within its active span, or with a trace of their own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    TracerProvider,
    get_current_span,
    get_tracer,
)

from bus import Context
from contracts import Query, ids

from .wanted import SYSTEM


class ClientSpans:
    """Traces what a client submits, by the application's own provider unless one is given."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = get_tracer("groundwire", tracer_provider=provider)

    @contextmanager
    def sending(self, stream: str, queries: Sequence[Query], /) -> "Iterator[_Spans]":
        """A span of the submit, and a context for each of its queries that brings none of its own."""
        if len(queries) == 1:
            kind = SpanKind.PRODUCER if queries[0].trace is None else SpanKind.CLIENT
            with self._tracer.start_as_current_span(
                f"send {stream}", kind=kind, attributes=_attributes("send", stream)
            ) as span:
                own = None if queries[0].trace is not None else span
                yield _Spans([own])
            return
        attributes = _attributes("create", stream)
        created = [
            None
            if query.trace is not None
            else self._tracer.start_span(
                f"create {stream}",
                kind=SpanKind.PRODUCER,
                attributes=attributes,
            )
            for query in queries
        ]
        try:
            with self._tracer.start_as_current_span(
                f"send {stream}",
                kind=SpanKind.CLIENT,
                attributes=_attributes("send", stream, len(queries)),
                links=[Link(span.get_span_context()) for span in created if span is not None],
            ):
                yield _Spans(created)
        finally:
            for made in filter(None, created):
                made.end()


class _Spans:
    """The spans of one submit: one for each query, None for a query that brings a context."""

    def __init__(self, spans: Sequence[Span | None]) -> None:
        self._spans = spans
        self.contexts = [None if span is None else _context(span) for span in spans]

    def accepted(self, query_ids: Sequence[str], /) -> None:
        """Each knows its message now."""
        for span, query_id in zip(self._spans, query_ids, strict=True):
            if span is not None and span.is_recording():
                span.set_attribute("messaging.message.id", ids.envelope_id(query_id, "submit"))
                span.set_attribute("messaging.message.conversation_id", query_id)


def _context(span: Span) -> Context | None:
    """What the message carries; None where there is no span, and the caller is in none."""
    of = span.get_span_context()
    if not of.is_valid:
        of = get_current_span().get_span_context()
    if not of.is_valid:
        return None
    traceparent = f"00-{of.trace_id:032x}-{of.span_id:016x}-{of.trace_flags & 3:02x}"
    return Context(traceparent, of.trace_state.to_header() or None)


def _attributes(operation: str, stream: str, count: int = 1) -> dict[str, str | int]:
    counted: dict[str, str | int] = {} if count == 1 else {"messaging.batch.message_count": count}
    return counted | {
        "messaging.system": SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": stream,
    }
