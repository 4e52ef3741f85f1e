"""Which traces are kept: the sampler of the OTEL_* variables decides, the same for all hops of a query."""

from collections.abc import Callable
from typing import NamedTuple

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision as Sampled
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from bus.watch import is_traceparent
from contracts import ids


class Kept(NamedTuple):
    """A query's spans are exported. `is_root`: nobody before us had a span of it."""

    is_root: bool


Decide = Callable[[str, str], Kept | None]
"""Of a message's traceparent and its query's id; None where they aren't, or the message belongs to no trace."""
_SPAN = "process"
_ODD = "13579bdf"
_NOWHERE = Context()
"""No parent; None would be whatever is active."""


def deciding(sampler: Sampler) -> Decide:
    """The decision about the spans of a delivery.

    A trace id that is derived from the query's id was made by nobody who samples: then we are the root, and each
    process comes to the same decision, by the id. Else whoever made it has decided, if the sampler goes by that.
    """
    follows = isinstance(sampler, ParentBased)
    followed = [_samples(sampler, 1, _made_elsewhere(TraceFlags(flags))) for flags in (0, 1)]

    def decide(traceparent: str, query_id: str) -> Kept | None:
        trace_id = traceparent[3:35]
        if follows and traceparent.endswith("-00"):
            is_kept = followed[0]  # nobody whose id is derived says so
        elif follows and trace_id != ids.trace_id(query_id):
            is_kept = followed[int(traceparent[-1:] in _ODD)]
        else:
            is_kept = _keeps(sampler, trace_id)
        if not is_kept or not is_traceparent(traceparent):
            return None
        return Kept(trace_id == ids.trace_id(query_id))

    return decide


def _keeps(sampler: Sampler, trace_id: str) -> bool:
    """Whether a sampler keeps a trace that nobody decided about."""
    try:
        if type(sampler) is TraceIdRatioBased:  # what it does, in a fifth of the time
            return int(trace_id[16:], 16) < sampler.bound
        return _samples(sampler, int(trace_id, 16), _NOWHERE)
    except ValueError:  # a stranger's, and no id
        return False


def _samples(sampler: Sampler, trace_id: int, parent: Context) -> bool:
    return sampler.should_sample(parent, trace_id, _SPAN).decision is Sampled.RECORD_AND_SAMPLE


def _made_elsewhere(flags: TraceFlags) -> Context:
    """The context of a parent that another process made."""
    return set_span_in_context(
        NonRecordingSpan(SpanContext(1, 1, is_remote=True, trace_flags=flags))
    )
