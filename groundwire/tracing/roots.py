"""Spans that begin a trace, as a tracer of the library would begin them, where most of them aren't kept.

One that isn't costs a quarter of what it costs there: which is more than a hop's whole trace then.
"""

import copy
from collections.abc import Mapping

from opentelemetry.sdk.trace import Tracer
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span, SpanKind, TraceFlags
from opentelemetry.trace import Tracer as AnyTracer
from opentelemetry.util.types import AttributeValue

from bus import Context

from .sampling import HALF, bound_of


class Roots:
    """Begins traces of which a share is kept, by their ids."""

    def __init__(self, tracer: Tracer, bound: int) -> None:
        self._ids = tracer.id_generator
        self._bound = bound
        self._flags = TraceFlags.RANDOM_TRACE_ID if _is_random(self._ids) else 0
        self._drawn = _Drawn(self._ids)
        self._tracer = copy.copy(tracer)
        self._tracer.id_generator = self._drawn

    def begin(
        self, name: str, kind: SpanKind, attributes: Mapping[str, AttributeValue]
    ) -> Span | Context:
        """A span without a parent, or what a message carries of one that isn't kept."""
        trace_id = self._ids.generate_trace_id()
        if trace_id & HALF >= self._bound:
            span_id = self._ids.generate_span_id()
            return Context(f"00-{trace_id:032x}-{span_id:016x}-0{self._flags}", None)
        self._drawn.trace_id = trace_id
        return self._tracer.start_span(name, kind=kind, attributes=attributes)


def roots_of(tracer: AnyTracer) -> Roots | None:
    """None where only the tracer itself can tell what is kept."""
    if not isinstance(tracer, Tracer):
        return None
    bound = bound_of(tracer.sampler)
    return None if bound is None else Roots(tracer, bound)


class _Drawn(IdGenerator):
    """The id of a trace that is kept was drawn to see whether it is."""

    def __init__(self, ids: IdGenerator) -> None:
        self.trace_id = 0
        self._ids = ids

    def generate_trace_id(self) -> int:
        return self.trace_id

    def generate_span_id(self) -> int:
        return self._ids.generate_span_id()

    def is_trace_id_random(self) -> bool:
        return _is_random(self._ids)


def _is_random(ids: IdGenerator) -> bool:
    """Older libraries don't say."""
    return bool(getattr(ids, "is_trace_id_random", bool)())
