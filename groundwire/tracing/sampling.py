"""Which traces are kept: the sampler of the OTEL_* variables decides, the same for all hops of a query."""

from collections.abc import Callable
from typing import NamedTuple

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision as Sampled
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from bus import Handling
from contracts import ids


class Decision(NamedTuple):
    """Whether a query's spans are exported. `is_root`: nobody before us had a span of it."""

    is_sampled: bool
    is_root: bool


Decide = Callable[[Handling], Decision | None]
"""None where the message belongs to no trace."""
_SPAN = "process"


def deciding(sampler: Sampler) -> Decide:
    """The decision about a delivery.

    A trace id that is derived from the query's id was made by nobody who samples: then we are the root, and each
    process comes to the same decision, by the id. Else whoever made it has decided, if the sampler goes by that.
    """
    is_parent_based = isinstance(sampler, ParentBased)
    followed = [_samples(sampler, 1, _made_elsewhere(TraceFlags(flags))) for flags in (0, 1)]

    def decide(of: Handling) -> Decision | None:
        trace_id = of.trace_id
        if not trace_id:
            return None
        is_root = trace_id == ids.trace_id(of.query_id)
        if is_parent_based and not is_root:
            return Decision(followed[int(of.traceparent[53:], 16) & 1], False)
        return Decision(_samples(sampler, int(trace_id, 16), None), is_root)

    return decide


def _samples(sampler: Sampler, trace_id: int, parent: Context | None) -> bool:
    return sampler.should_sample(parent, trace_id, _SPAN).decision is Sampled.RECORD_AND_SAMPLE


def _made_elsewhere(flags: TraceFlags) -> Context:
    """The context of a parent that another process made."""
    return set_span_in_context(
        NonRecordingSpan(SpanContext(1, 1, is_remote=True, trace_flags=flags))
    )
