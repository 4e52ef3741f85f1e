"""How a fault that nobody foresaw is told: by its class and its place. What it says may be somebody's text."""

import logging
import sys
import threading
import traceback
from pathlib import PurePath
from types import TracebackType

from groundwire import logs

FRAMES = 8

__all__ = ["facts_of", "tell_crashes"]


def tell_crashes(stage: str) -> None:
    """From now on what ends this process, one of its threads or tasks is an event of the log, not a traceback."""

    def ended(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None, /
    ) -> None:
        del kind, trace  # both are the error's
        _tell("worker.crashed", stage, error)

    def thread_ended(told: threading.ExceptHookArgs, /) -> None:
        if not isinstance(told.exc_value, SystemExit):  # which ends a thread in silence
            _tell("task.failed", stage, told.exc_value)

    sys.excepthook = ended
    threading.excepthook = thread_ended
    told_by_loop = logging.getLogger("asyncio")
    told_by_loop.handlers, told_by_loop.propagate = [_Telling(stage)], False


def facts_of(error: BaseException | None) -> dict[str, object]:
    """The classes of an error and of the first in its groups, and where that was raised."""
    classes: list[str] = []
    while isinstance(error, BaseExceptionGroup):
        classes.append(type(error).__name__)
        error = error.exceptions[0]
    if error is None:
        return {"error": "", "at": []}
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [
        f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}"
        for frame in frames
    ]
    return {"error": " ".join([*classes, type(error).__name__]), "at": places}


def _tell(event: str, stage: str, error: BaseException | None) -> None:
    logs.bus_log()(event, stage=stage, **facts_of(error))
    logs.flush()


class _Telling(logging.Handler):
    """What the loop complains of: tasks that nobody asked for their result."""

    def __init__(self, stage: str) -> None:
        super().__init__(logging.WARNING)
        self._stage = stage

    def emit(self, record: logging.LogRecord) -> None:
        _tell("task.failed", self._stage, record.exc_info[1] if record.exc_info else None)
