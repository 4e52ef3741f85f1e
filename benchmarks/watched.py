"""Our side once more, observed: as a worker with a port logs and measures, and as one traces."""

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from bus import Bus
from groundwire import logs
from groundwire.observing import observing
from groundwire.settings import load_settings
from groundwire.tracing import tracing

from . import ours

SIDES: Mapping[str, str] = {"told": "", "observed": "", "sampled": "0.01", "traced": "1.0"}
"""The share of queries that are traced; without one nothing that traces is there. All but `told` have metrics."""
_PORT = "20400"


def environment(side: str) -> Mapping[str, str]:
    """The variables of a side. Its collector's address stands in those that it inherits."""
    share = SIDES.get(side)
    if not share:
        return {}
    os.environ.update({"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": share})
    return os.environ


async def serve(side: str, url: str, name: str, ready: Callable[[], None]) -> None:
    """Work as one stage, for ever, observed as the side is; log lines go to a file."""
    _log_to_a_file()
    port = "0" if side == "told" else _PORT
    settings = load_settings({"GROUNDWIRE_HEALTH_PORT": port}, Path(tempfile.gettempdir()))
    logs.configure(settings.log_level, as_json=True)
    with observing(name, settings, logs.bus_log(), environment(side)) as observed:
        await ours.serve(url, name, ready, observed.watch)


@asynccontextmanager
async def client(url: str, side: str) -> AsyncIterator[Bus]:
    """The client of a side: it traces where its workers do."""
    with tracing(environment(side), logs.bus_log(), role="client") as opened:
        if opened is None:
            origin = None
        else:
            from groundwire.tracing.origin import ClientSpans

            origin = ClientSpans(opened.provider)
        async with ours.client(url, origin) as bus:
            yield bus


@cache
def _log_to_a_file() -> None:
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
