"""Logs: one event per state change, a fixed name, fields not sentences; JSON outside a terminal.

The names are here, with how loud each is; docs/operations.md says what they mean, and a test compares the two.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

import structlog
from pydantic_core import to_json

from bus import Log
from groundwire.printable import printable
from groundwire.settings import redact_url
from groundwire.sink import Sink

QUIET_S = 1.0

Loudness = Literal["debug", "info", "warning", "trouble"]
"""`trouble` is a warning that comes again and again while it lasts: told once a second at most, with a count."""

EVENTS: Mapping[str, Loudness] = {
    "query.accepted": "debug",
    "query.adopted": "debug",
    "query.answered": "info",
    "query.out_of_scope": "info",
    "query.rejected": "info",
    "delivery.started": "debug",
    "delivery.emitted": "debug",
    "delivery.retried": "warning",
    "delivery.dead": "warning",
    "delivery.parked": "info",
    "delivery.fenced": "info",
    "delivery.claimed": "info",
    "delivery.released": "info",
    "delivery.reconciled": "info",
    "delivery.overdue": "info",
    "delivery.dropped": "warning",
    "delivery.not_pending": "info",
    "worker.ready": "info",
    "worker.left": "info",
    "worker.cold": "warning",
    "worker.died": "warning",
    "worker.crashed": "warning",
    "task.failed": "warning",
    "worker.failing": "warning",
    "worker.not_started": "warning",
    "worker.death_not_reported": "warning",
    "settings.changed": "info",
    "settings.refused": "warning",
    "health.listening": "info",
    "profile.fallback": "warning",
    "intents.faulty": "warning",
    "corpus.waiting": "warning",
    "corpus.fetched": "info",
    "corpus.unreachable": "warning",
    "corpus.failed": "warning",
    "server.guard_lost": "warning",
    "start.waiting": "trouble",
    "read.failed": "trouble",
    "read.refused": "trouble",
    "settle.repeated": "trouble",
    "settle.refused": "trouble",
    "adopt.repeated": "trouble",
    "tick.failed": "trouble",
    "release.failed": "trouble",
    "leave.failed": "trouble",
    "drain.cut": "trouble",
    "group.recreated": "trouble",
    "group.failed": "trouble",
    "traces.off": "warning",
    "traces.failed": "trouble",
    "log.dropped": "warning",
}

_STDERR = 2
_SINKS: list[Sink] = []


def configure(level: str, *, as_json: bool | None = None) -> None:
    """Log to standard error at this level and above."""
    is_terminal = os.isatty(_STDERR)
    if as_json is None:
        as_json = not is_terminal
    sink = Sink(_STDERR)
    _SINKS[:] = [sink]
    structlog.configure(
        processors=[
            _complete,
            *(
                [_json]
                if as_json
                else [_readable, structlog.dev.ConsoleRenderer(colors=is_terminal)]
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=lambda *_: _Lines(sink),
        cache_logger_on_first_use=True,
    )
    logging.getLogger("groundwire").handlers = [_Bridge()]


def flush() -> None:
    """Write what was logged; for whoever ends the process without a goodbye."""
    for sink in _SINKS:
        sink.flush()


def bus_log(clock: Callable[[], float] = time.monotonic) -> Log:
    """What the bus reports, as log lines. Trouble of one kind is told once a second at most."""
    logger = structlog.get_logger().bind()
    say = {loud: getattr(logger, loud) for loud in ("debug", "info", "warning")}
    told: dict[str, float] = {}
    kept_back: dict[str, int] = {}

    def log(event: str, /, **fields: object) -> None:
        loudness = EVENTS.get(event, "warning")
        if loudness != "trouble":
            say[loudness](event, **fields)
            return
        now = clock()
        if event in told and now - told[event] < QUIET_S:
            kept_back[event] = kept_back.get(event, 0) + 1
            return
        told[event] = now
        repeated = kept_back.pop(event, 0)
        logger.warning(event, **fields, **({"repeated": repeated} if repeated else {}))

    return log


class _Lines:
    """What structlog writes to: a line for each call, at whatever level."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def msg(self, line: bytes | str) -> None:
        self._sink.put(line if isinstance(line, bytes) else line.encode(errors="replace"))

    debug = info = warning = error = critical = msg


class _Bridge(logging.Handler):
    """What modules that know no log of ours say by `logging`: the message is the event, `extra` its fields."""

    def __init__(self) -> None:
        super().__init__()
        self._log = bus_log()

    def emit(self, record: logging.LogRecord) -> None:
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        self._log(record.getMessage(), **fields)


_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def _complete(
    _: object, level: str, fields: "structlog.typing.EventDict"
) -> "structlog.typing.EventDict":
    """Add level and time, cross out passwords. One function: a line for each query has to be cheap."""
    for name, value in fields.items():
        if name not in _IDS and isinstance(value, str):
            fields[name] = redact_url(value)
    now = time.time()
    fields["level"] = level
    fields["timestamp"] = f"{_second(int(now))}.{int(now % 1 * 1e6):06d}Z"
    return fields


def _readable(
    _: object, __: str, fields: "structlog.typing.EventDict"
) -> "structlog.typing.EventDict":
    """For a terminal: a file's name, or a stranger's, steers none. JSON escapes it by itself."""
    return {
        name: printable(" ".join(value.splitlines())) if isinstance(value, str) else value
        for name, value in fields.items()
    }


@lru_cache(4)
def _second(since_epoch: int) -> str:
    return datetime.fromtimestamp(since_epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _json(_: object, __: str, fields: "structlog.typing.EventDict") -> bytes:
    return to_json(fields, inf_nan_mode="null", fallback=str)


_IDS = frozenset(
    {"event", "level", "timestamp", "query_id", "stage", "entry", "trace_id", "reason", "consumer"}
)
"""Fields that can hold no URL: to look was four fifths of what a line cost."""
