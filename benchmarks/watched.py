"""Our side observed: as a worker with a port logs and measures, and as one traces; by turns in the same processes."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from bus import Origin, Watch, Worker
from groundwire import logs, loop
from groundwire.observing import observing
from groundwire.settings import load_settings
from groundwire.tracing import tracing

from . import ours
from .child import READY, burst, die_with_parent

T = TypeVar("T")

PLAIN = "plain"
SIDES: Mapping[str, str] = {
    "told": "",
    "observed": "",
    "unsampled": "0.0",
    "sampled": "0.01",
    "traced": "1.0",
}
"""The share of queries that are traced; without one nothing that traces is there. All but `told` have metrics."""
BE, END, BURST = "be", "end", "burst"
"""Orders: be observed as a side; let go of all that it holds; publish so many. Each is answered."""
_PORT = "20400"


def run_stage(url: str, name: str, pipe: Connection) -> None:
    """Work as one stage, observed as it is told, for ever."""
    loop.run(_work(url, name, pipe))


def run_client(url: str, pipe: Connection) -> None:
    """Publish as told, observed as told, for ever."""
    loop.run(_publish(url, pipe))


async def _work(url: str, name: str, pipe: Connection) -> None:
    _settle()
    async with ours.working(url, name) as worker:
        await _take_orders(pipe, partial(_observing, name), partial(_watch_by, worker), None)


async def _publish(url: str, pipe: Connection) -> None:
    _settle()
    async with ours.client(url) as bus:

        def trace_by(origin: Origin | None) -> None:
            bus._origin = origin

        await _take_orders(pipe, _tracing, trace_by, partial(burst, bus.submit_many))


async def _take_orders(
    pipe: Connection,
    open_: Callable[[str], AbstractContextManager[T]],
    change: Callable[[T | None], None],
    publish: Callable[[int], Awaitable[float]] | None,
) -> None:
    """All that was opened stays so until its end is ordered: what is idle costs nothing."""
    held: dict[str, tuple[ExitStack, T]] = {}
    while True:
        order, what = await asyncio.to_thread(pipe.recv)
        if order == BURST:
            assert publish is not None, "a worker publishes nothing"
            pipe.send(await publish(what))
            continue
        if order == END:
            change(None)
            if what in held:
                held.pop(what)[0].close()
        elif what == PLAIN:
            change(None)
        else:
            if what not in held:
                stack = ExitStack()
                held[what] = stack, stack.enter_context(open_(what))
                loop.settle_heap()
            change(held[what][1])
        pipe.send(READY)


def _watch_by(worker: Worker, watch: Watch | None) -> None:
    """Exchange who watches a worker that goes on working, which the product never does."""
    for _, lanes in worker._parts:
        for lane in lanes:
            lane._settler._watch = lane._keeper._watch = watch
            lane._runner._started = None if watch is None else watch.started


@contextmanager
def _observing(name: str, side: str) -> Iterator[Watch]:
    port = "0" if side == "told" else _PORT
    settings = load_settings({"GROUNDWIRE_HEALTH_PORT": port}, Path(tempfile.gettempdir()))
    with observing(name, settings, logs.bus_log(), _environment(side)) as observed:
        yield observed.watch


@contextmanager
def _tracing(side: str) -> Iterator[Origin | None]:
    """A client traces where its workers do."""
    with tracing(_environment(side), logs.bus_log(), role="client") as opened:
        if opened is None:
            yield None
            return
        from groundwire.tracing.origin import ClientSpans

        yield ClientSpans(opened.provider)


def _environment(side: str) -> Mapping[str, str]:
    """The variables of a side. Its collector's address stands in those that it inherits."""
    share = SIDES[side]
    if not share:
        return {}
    os.environ.update({"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": share})
    return os.environ


def _settle() -> None:
    """Die with the parent; log lines go to a file."""
    die_with_parent()
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
    logs.configure("info", as_json=True)
