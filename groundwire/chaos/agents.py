"""Agents that do nothing but take a little time, and misbehave where a query's mark tells them to.

What a handler does is a function of the message alone, so that every redelivery meets the same fault.
"""

import asyncio
import hashlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, assert_never, get_args

from contracts import Intent, Query, Transient, Value
from contracts.about import query_of
from groundwire.noop import HANDLERS

from .versions import NewerIntent

Kind = Literal["slow", "busy", "wedge", "poison", "flaky", "newer"]
Handler = Callable[[Any], Awaitable[Value]]

_PREFIX = "chaos"
_SHORTEST_S, _LONGEST_S = 0.005, 0.1
_WEDGED_S = 3_600.0


@dataclass(frozen=True)
class Mark:
    """What one stage shall do with a query; rides in the query's `feature`."""

    kind: Kind
    stage: str
    ms: int = 0

    @property
    def feature(self) -> str:
        """The mark as it is written."""
        return f"{_PREFIX}:{self.kind}:{self.stage}:{self.ms}"


def mark_of(query: Query) -> Mark | None:
    """The mark of a query; None for an innocent one."""
    match (query.feature or "").split(":"):
        case [prefix, kind, stage, ms] if prefix == _PREFIX and ms.isdigit():
            for known in get_args(Kind):
                if kind == known:
                    return Mark(known, stage, int(ms))
    return None


def natural_s(query_id: str, stage: str) -> float:
    """How long a stage takes over an innocent query: 5 to 100 ms, drawn from its id."""
    drawn = hashlib.sha256(f"{query_id}/{stage}".encode()).digest()[0] / 256
    return _SHORTEST_S + (_LONGEST_S - _SHORTEST_S) * drawn


class Behaviour:
    """What happens in one worker of a stage before its message is made."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._refused: set[str] = set()

    async def act(self, query: Query) -> None:
        """Take time, or do what the mark says; a poison does not return."""
        mark = mark_of(query)
        await asyncio.sleep(natural_s(query.query_id, self._stage))
        if mark is None or mark.stage != self._stage:
            return
        match mark.kind:
            case "slow":
                await asyncio.sleep(mark.ms / 1000)
            case "busy":
                _spin(mark.ms / 1000)
            case "wedge":
                time.sleep(_WEDGED_S)  # noqa: ASYNC251 - holding up the loop is what it is for
            case "poison":
                os.kill(os.getpid(), signal.SIGKILL)
            case "flaky":
                self._refuse_once(query.query_id)
            case "newer":
                return  # its message is another one, in time it is innocent
            case _:
                assert_never(mark.kind)

    def _refuse_once(self, query_id: str) -> None:
        if query_id not in self._refused:
            self._refused.add(query_id)
            raise Transient("the first try in every process fails")


def _spin(seconds: float) -> None:
    """Keep the processor and the event loop."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def _query_of(message: Any) -> Query:
    query: Query | None = query_of(message)
    assert query is not None, "every message of every stage holds its query"
    return query


def handler_of(stage: str) -> Handler:
    """The handler of a stage, with a memory of its own."""
    behaviour, make = Behaviour(stage), HANDLERS[stage]

    async def handle(message: Any) -> Value:
        query = _query_of(message)
        await behaviour.act(query)
        made = await make(message.intent if isinstance(message, NewerIntent) else message)
        mark = mark_of(query)
        if mark is not None and mark.kind == "newer" and isinstance(made, Intent):
            return NewerIntent(intent=made)
        return made

    return handle
