"""Logs: one event per state change, a fixed name, fields not sentences; JSON outside a terminal."""

import logging
import sys
import time
from collections.abc import Callable

import structlog

from bus import Log
from groundwire.settings import redact_url

_TROUBLE = ("failed", "repeated", "refused", "cut", "dropped", "recreated", "waiting")
QUIET_S = 1.0


def configure(level: str, *, as_json: bool | None = None) -> None:
    """Log to standard error at this level and above."""
    use_json = not sys.stderr.isatty() if as_json is None else as_json
    renderer = (
        structlog.processors.JSONRenderer()
        if use_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _redact,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def bus_log(clock: Callable[[], float] = time.monotonic) -> Log:
    """What the bus reports, as log lines. Trouble of one kind is told once a second at most."""
    logger = structlog.get_logger()
    told: dict[str, float] = {}
    kept_back: dict[str, int] = {}

    def log(event: str, /, **fields: object) -> None:
        if event.rpartition(".")[2] not in _TROUBLE:
            logger.info(event, **fields)
            return
        now = clock()
        if event in told and now - told[event] < QUIET_S:
            kept_back[event] = kept_back.get(event, 0) + 1
            return
        told[event] = now
        repeated = kept_back.pop(event, 0)
        logger.warning(event, **fields, **({"repeated": repeated} if repeated else {}))

    return log


def _redact(
    _: object, __: str, fields: "structlog.typing.EventDict"
) -> "structlog.typing.EventDict":
    return {
        name: redact_url(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }
