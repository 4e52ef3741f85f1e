"""Which traces are kept: the sampler of the OTEL_* variables decides, the same for all hops of a query."""

from collections.abc import Callable
from functools import partial

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    ParentBased,
    Sampler,
    TraceIdRatioBased,
)
from opentelemetry.sdk.trace.sampling import Decision as Sampled
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from bus.watch import is_traceparent
from contracts import ids

Decide = Callable[[str, str], bool]
"""Whether the spans of a message are exported, of its traceparent and its query's id. One in no trace has none."""
_SPAN = "process"
_ODD = "13579bdf"
HALF = (1 << 64) - 1
"""The lower half of a trace's id, by which a share is kept."""
_NOWHERE = Context()
"""No parent; None would be whatever is active."""


def deciding(sampler: Sampler) -> Decide:
    """The decision about the spans of a delivery.

    A trace id that is derived from the query's id was made by nobody who samples: then we are the root, and each
    process comes to the same decision, by the id. Else whoever made it has decided, if the sampler goes by that.
    """
    follows = isinstance(sampler, ParentBased)
    followed = [_samples(sampler, 1, _made_elsewhere(TraceFlags(flags))) for flags in (0, 1)]
    keeps = _keeping(sampler)

    def decide(traceparent: str, query_id: str) -> bool:
        if not follows:
            is_kept = keeps(traceparent)
        elif traceparent[-1:] not in _ODD:
            is_kept = followed[0]  # nobody whose id is derived says so
        elif not is_derived(traceparent, query_id):
            is_kept = followed[1]
        else:
            is_kept = keeps(traceparent)
        return is_kept and is_traceparent(traceparent)

    return decide


def is_derived(traceparent: str, query_id: str) -> bool:
    """Whether nobody traced a query before us."""
    return traceparent[3:35] == ids.trace_id(query_id)


def bound_of(sampler: Sampler) -> int | None:
    """Below it the lower half of a trace's id must be to be kept where nobody decided yet; None: ask the sampler."""
    root = getattr(sampler, "_root", None) if isinstance(sampler, ParentBased) else sampler
    if type(root) is TraceIdRatioBased:
        return root.bound
    return 0 if root is ALWAYS_OFF else HALF + 1 if root is ALWAYS_ON else None


def _keeping(sampler: Sampler) -> Callable[[str], bool]:
    """Whether a sampler keeps the trace of a traceparent, or of a stranger's text, that nobody decided about."""
    bound = bound_of(sampler)
    if bound is None:
        return partial(_asked, sampler)
    if bound > HALF:
        return lambda _: True
    digits = f"{bound:016x}"  # as many on both sides: their order is that of the numbers, in a fifth of the time
    return lambda traceparent: traceparent[19:35] < digits


def _asked(sampler: Sampler, traceparent: str) -> bool:
    return is_traceparent(traceparent) and _samples(sampler, int(traceparent[3:35], 16), _NOWHERE)


def _samples(sampler: Sampler, trace_id: int, parent: Context) -> bool:
    return sampler.should_sample(parent, trace_id, _SPAN).decision is Sampled.RECORD_AND_SAMPLE


def _made_elsewhere(flags: TraceFlags) -> Context:
    """The context of a parent that another process made."""
    return set_span_in_context(
        NonRecordingSpan(SpanContext(1, 1, is_remote=True, trace_flags=flags))
    )
