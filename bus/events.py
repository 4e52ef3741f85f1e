"""Events, read from outside: the trace of one query, and the steps as they happen."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from redis import exceptions as errors

from contracts import Event, Transient

from .delivery import fields_of
from .keys import Keys
from .wire import Arg, Wire, is_wrong_type, text

_PAGE = 500
_BLOCK_MS = 250


@dataclass(frozen=True)
class Seen:
    """An event, its sequence number in the lane, and its stream entry."""

    entry_id: str
    seq: int
    event: Event


async def _read(wire: Wire, key: str, *command: Arg) -> Any:
    """What a command reads of the events; Transient while somebody's key of another type lies there."""
    try:
        return await wire.call(*command)
    except errors.ResponseError as error:
        if not is_wrong_type(error):
            raise
        raise Transient(f"{key} is no stream: whoever wrote there has to put it right") from error


async def latest_event(wire: Wire, lane: int) -> str:
    """The id of the newest event, to follow from; `0` when there is none."""
    events = Keys(lane).events
    last = await _read(wire, events, "XREVRANGE", events, "+", "-", "COUNT", 1)
    return text(last[0][0]) if last else "0"


async def follow(wire: Wire, lane: int, after: str) -> AsyncIterator[Seen]:
    """Events behind an entry as they come, for ever."""
    events = Keys(lane).events
    while True:
        reply = await _read(
            wire, events, "XREAD", "COUNT", _PAGE, "BLOCK", _BLOCK_MS, "STREAMS", events, after
        )
        parts = reply.values() if isinstance(reply, dict) else (part[1] for part in reply or ())
        for entries in parts:
            for entry_id, flat in entries:
                after = text(entry_id)
                if (seen := _seen(after, flat)) is not None:
                    yield seen


async def trace_of(wire: Wire, lane: int, query_id: str) -> list[Seen]:
    """The events of one query that are still kept, in order. Reads the whole stream, in pages."""
    found: list[Seen] = []
    start, events = "-", Keys(lane).events
    while True:
        page = await _read(wire, events, "XRANGE", events, start, "+", "COUNT", _PAGE)
        if not page:
            return found
        for entry_id, flat in page:
            seen = _seen(text(entry_id), flat)
            if seen is not None and seen.event.query_id == query_id:
                found.append(seen)
        start = f"({text(page[-1][0])}"


def _seen(entry_id: str, flat: list[bytes]) -> Seen | None:
    """None for an entry that a stranger put there."""
    fields = fields_of(flat)
    try:
        event = Event.model_validate_json(fields.get(b"event", b""))
    except ValidationError:
        return None
    return Seen(entry_id, int(fields.get(b"seq", b"0")), event)
