"""What a process is told by signals: to stop, to stop now, to read its settings again."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

__all__ = ["Signals"]


class Signals:
    """SIGTERM and SIGINT set `stop`, SIGHUP sets `reread`. A context: SIGHUP ends no process inside it.

    The SIGHUP of a terminal that went away means stop, as it does for every program in its foreground.
    """

    def __init__(self, leave_now: Callable[[int], None]) -> None:
        self.stop = asyncio.Event()
        self.reread = asyncio.Event()
        self.may_drain = True
        """Whether the first stop leaves time; False: it calls `leave_now`, like a second one."""
        self._leave_now = leave_now
        self._had_terminal = _is_on_a_terminal()
        self._came_early = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGHUP, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGHUP, self._before)

    def listen(self) -> None:
        """From now on hear signals in the running loop; a SIGHUP that came before counts."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._hear_stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._hear_hangup)
        if self._came_early:
            self._hear_hangup()

    async def next(self, *running: "asyncio.Task[None]") -> bool:
        """Wait for a signal, or the end of a task; whether to read the settings again."""
        waiting = [asyncio.create_task(event.wait()) for event in (self.stop, self.reread)]
        try:
            await asyncio.wait([*waiting, *running], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        if self.stop.is_set() or any(task.done() for task in running):
            return False
        self.reread.clear()
        return True

    async def stop_comes_first(self, work: "asyncio.Task[Any]") -> bool:
        """Wait for the end of some work, or for `stop`, which cancels it."""
        stopping = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait([work, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if work.done():
            return False
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return True

    def _note(self, *_: object) -> None:
        self._came_early = True

    def _hear_stop(self, number: int) -> None:
        if self.stop.is_set() or not self.may_drain:
            self._leave_now(number)
        self.stop.set()

    def _hear_hangup(self) -> None:
        if self._had_terminal and not _is_on_a_terminal():
            self._hear_stop(signal.SIGHUP)
        else:
            self.reread.set()


def _is_on_a_terminal() -> bool:
    """Whether the process has a controlling terminal: it hasn't any more once that was closed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
