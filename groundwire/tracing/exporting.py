"""The way out for spans: a provider, a batch and an exporter as the OTEL_* variables say, while a block lasts."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bus import Log

from .wanted import fault_of, is_wanted

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

FLUSH_S = 2.0
"""How long an exit waits for what was not exported yet."""
_NAME = "groundwire"


@dataclass(frozen=True)
class Tracing:
    """A provider for whoever makes spans by the API, and the processor behind it for finished ones."""

    provider: "TracerProvider"
    processor: "SpanProcessor"


@contextmanager
def tracing(env: Mapping[str, str], log: Log, *, role: str) -> Iterator[Tracing | None]:
    """Export spans until the block ends; None where the variables name no endpoint, or it can't be done.

    `role`: what this process is, like `critic`: `groundwire-critic` is the service's name unless a variable names it.
    """
    if not is_wanted(env):
        yield None
        return
    fault = fault_of(env)
    if fault is not None:
        log("traces.off", error=fault)
        yield None
        return
    with _told(log):
        opened = _open(env, role)
        try:
            yield opened
        finally:
            _end(opened)


def _open(env: Mapping[str, str], role: str) -> Tracing:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from .exporter import Exporter
    from .resource import resource_of

    is_named = env.get("OTEL_SERVICE_NAME") or "service.name=" in env.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    resource = resource_of({} if is_named else {"service.name": f"{_NAME}-{role}"})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    processor = BatchSpanProcessor(Exporter())
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)  # a handler's own libraries export by it too
    return Tracing(provider, processor)


def _end(opened: Tracing) -> None:
    """Export what is left, within a bound: a collector that is gone holds up no exit."""
    ending = threading.Thread(target=opened.provider.shutdown, name="traces", daemon=True)
    ending.start()
    ending.join(FLUSH_S)


@contextmanager
def _told(log: Log) -> Iterator[None]:
    """What the libraries complain of is an event of ours while the block lasts: they say nothing of a query."""
    theirs = logging.getLogger("opentelemetry")
    handler = _Telling(log)
    was = theirs.propagate
    theirs.addHandler(handler)
    theirs.propagate = False
    try:
        yield
    finally:
        theirs.removeHandler(handler)
        theirs.propagate = was


class _Telling(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log("traces.failed", error=record.getMessage()[:200])
