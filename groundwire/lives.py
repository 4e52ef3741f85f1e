"""A worker process that takes new settings while it runs: a successor takes over, its predecessor drains."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts import GroundwireError

from .wiring import keeping_warm

if TYPE_CHECKING:
    from bus import Log, Worker

    from .signals import Signals
    from .wiring.workers import Built

__all__ = ["Successor", "live"]

READY_S = 120.0
"""For models to load, or a classifier to be learned, and the server to answer."""


@dataclass(frozen=True)
class Successor:
    """A worker by new settings, which differ in what is `changed`."""

    built: "Built"
    changed: tuple[str, ...]


async def live(
    first: "Built",
    succeed: Callable[[], Awaitable[Successor]],
    *,
    signals: "Signals",
    attend: "Callable[[Worker], None]",
    log: "Log",
) -> None:
    """Run a worker until told to stop. At each SIGHUP `succeed` builds the next one, by settings read anew.

    The old one goes on until its successor reads, then finishes what runs and gives back the rest: nothing is
    lost, nothing waits. If there is no successor to be had, the old one goes on, and the log says why.
    """
    present = _Life(first, log)
    del first
    attend(present.worker)
    leaving: list[asyncio.Task[None]] = []
    while await signals.next(present.task):
        becoming = asyncio.create_task(_successor(succeed, log))
        if not await signals.stop_comes_first(becoming) and (successor := becoming.result()):
            present.worker.stop()
            leaving = [task for task in leaving if not task.done() or task.exception()]
            leaving.append(present.task)
            present = successor
            attend(present.worker)
    present.worker.stop()
    await asyncio.gather(present.task, *leaving)


class _Life:
    """A worker that runs."""

    def __init__(self, built: "Built", log: "Log") -> None:
        self.worker = built.worker
        self.task = asyncio.create_task(_run(built, log))

    async def begin(self) -> None:
        """Return once it reads; raises what ended it before."""
        ready = asyncio.create_task(self.worker.ready.wait())
        try:
            await asyncio.wait([ready, self.task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self.task.done():
            self.task.result()


async def _run(built: "Built", log: "Log") -> None:
    async with keeping_warm(built.handler, built.corpus, log):
        await built.worker.run()


async def _successor(succeed: Callable[[], Awaitable[Successor]], log: "Log") -> _Life | None:
    """One that reads already; None if there is none to be had."""
    try:
        async with asyncio.timeout(READY_S):
            successor = await succeed()
            life = _Life(successor.built, log)
            try:
                await life.begin()
            except BaseException:
                life.worker.stop()
                await asyncio.gather(life.task, return_exceptions=True)
                raise
    except (GroundwireError, OSError) as error:
        why = str(error) or f"not ready within {READY_S:g} s"
        log("settings.refused", error=why[:500])
        return None
    log("settings.changed", changed=list(successor.changed))
    return life
