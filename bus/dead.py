"""Dead letters, for the operator: list, show, replay, discard."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from contracts import Invalid, Transient
from contracts.envelope import to_ms

from .blob import blob_of
from .clock import ServerClock, time_reply_ms
from .config import BusConfig
from .delivery import fields_of, order_of
from .durable import confirm_stored
from .failed import DeadRecord
from .keys import Keys
from .survey import Asking, UnreachableLane, require_all, survey
from .wire import Arg, Wire, text

_DEAD_ID = re.compile(r"([0-9]{1,4})/([0-9]{1,19}-[0-9]{1,19})")


@dataclass(frozen=True)
class DeadLetterEntry:
    """A dead letter's id (`<lane>/<entry>`) and its record."""

    id: str
    record: DeadRecord


@dataclass(frozen=True)
class DeadLetterList:
    """The newest dead letters of the lanes whose servers answer, newest first, and the lanes that can't be read."""

    entries: tuple[DeadLetterEntry, ...]
    unreachable: tuple[UnreachableLane, ...] = ()


class DeadLetters:
    """What the operator may do with dead letters. What is about one asks its own lane alone."""

    def __init__(self, ask: Asking, config: BusConfig, clock: ServerClock) -> None:
        self._ask = ask
        self._config = config
        self._clock = clock

    async def list(self, limit: int = 100) -> list[DeadLetterEntry]:
        """The newest dead letters of all lanes, newest first; Unreachable unless each can be read."""
        found = await self.list_reachable(limit)
        require_all(found.unreachable)
        return [*found.entries]

    async def list_reachable(self, limit: int = 100) -> DeadLetterList:
        """The newest dead letters of the lanes that can be read; Unreachable if none can."""

        async def read(lane: int) -> Sequence[DeadLetterEntry]:
            return await _newest(await self._ask(lane), limit)

        found, unreachable = await survey(read, self._config.lanes)
        entries = sorted(chain(*found), key=_place_in_time, reverse=True)
        return DeadLetterList(tuple(entries[:limit]), unreachable)

    async def get(self, dead_id: str) -> DeadLetterEntry:
        """One dead letter; Invalid if there is none of this id."""
        keys, entry_id = self._place(dead_id)
        wire = await self._ask(keys.lane)
        entries = await wire.call("XRANGE", keys.dead, entry_id, entry_id)
        record = _record_in(entries[0][1]) if entries else None
        if record is None:
            raise Invalid(f"no dead letter {dead_id}: see `groundwire dead list`")
        return DeadLetterEntry(dead_id, record)

    async def raw(self, dead_id: str) -> bytes | None:
        """The bytes that lay on the stream, for the operator only; None once they have expired."""
        entry = await self.get(dead_id)
        keys, _ = self._place(dead_id)
        raw: bytes | None = await (await self._ask(keys.lane)).call("GET", entry.record.raw_key)
        return raw

    async def replay(self, dead_id: str, *, durable: bool = False) -> str:
        """Open the query again with a fresh deadline; returns its query_id. A second replay is Invalid.

        `durable`: NotDurable if the server's disk, or a replica, doesn't have it; it is replayed all the same.
        """
        entry = await self.get(dead_id)
        keys, entry_id = self._place(dead_id)
        wire = await self._ask(keys.lane)
        self._clock.set(time_reply_ms(await wire.call("TIME")))
        deadline = self._clock.now() + timedelta(seconds=self._config.deadline_s)
        envelope = replayable(await self.raw(dead_id), entry)
        envelope["deadline"] = deadline.isoformat()
        record = entry.record
        names = [keys.dead, keys.open, keys.counters, keys.of(record.stream)]
        names += [record.raw_key, keys.replaying, keys.result(record.query_id)]
        body = json.dumps(envelope).encode()
        args: list[Arg] = [entry_id, record.query_id, to_ms(deadline), body]
        blob = blob_of(
            body,
            f"replay:{record.stream}:{entry_id}",  # a stage may read what is replayed on its stream alone
            record.query_id,
            keys=keys,
            left_ms=int(self._config.deadline_s * 1000),
            config=self._config,
        )
        if blob is not None:
            names.append(blob.key)
            args = [*args[:3], blob.reference, blob.ttl_ms, blob.body]
        status = text(await wire.script("replay", names, args))
        match status.partition(" "):
            case ("REPLAYED", _, _):
                if durable:
                    await confirm_stored(
                        wire,
                        record.query_id,
                        replicas=self._config.durable_replicas,
                        timeout_s=self._config.reply_timeout_s,
                    )
                return record.query_id
            case ("MISSING", _, _):
                raise Invalid(f"dead letter {dead_id} was replayed or discarded meanwhile")
            case ("OPEN", _, _):
                raise Invalid(f"query {record.query_id} is open already: wait for its result")
            case (_, _, why):
                raise Transient(f"the server refused the replay: {why}")

    async def discard(self, dead_id: str) -> None:
        """Delete a dead letter and its bytes; its failed result stays."""
        entry = await self.get(dead_id)
        keys, entry_id = self._place(dead_id)
        wire = await self._ask(keys.lane)
        await wire.call("XDEL", keys.dead, entry_id)
        await wire.call("DEL", entry.record.raw_key)

    def _place(self, dead_id: str) -> tuple[Keys, str]:
        match = _DEAD_ID.fullmatch(dead_id)
        if match is None or int(match[1]) >= self._config.lanes:
            raise Invalid(f"{dead_id!r} is no dead letter's id: expected <lane>/<entry>")
        return Keys(int(match[1])), match[2]


async def _newest(wire: Wire, limit: int) -> Sequence[DeadLetterEntry]:
    """The newest dead letters of a lane."""
    entries = await wire.call("XREVRANGE", Keys(wire.lane).dead, "+", "-", "COUNT", limit)
    found = ((f"{wire.lane}/{text(entry_id)}", _record_in(flat)) for entry_id, flat in entries)
    return [DeadLetterEntry(dead_id, record) for dead_id, record in found if record is not None]


def _place_in_time(entry: DeadLetterEntry) -> tuple[int, int]:
    """By the clock of the lane's server."""
    return order_of(entry.id.partition("/")[2])


def _record_in(flat: list[bytes]) -> DeadRecord | None:
    """None for an entry that a stranger put there: every stage may write to the stream."""
    try:
        return DeadRecord.model_validate_json(fields_of(flat).get(b"record", b""))
    except ValidationError:
        return None


def replayable(raw: bytes | None, entry: DeadLetterEntry) -> dict[str, Any]:
    """The envelope of a dead letter as JSON; Invalid where there is nothing that could run again."""
    if raw is None:
        raise Invalid(f"the bytes of dead letter {entry.id} have expired: discard it")
    try:
        envelope = from_json(raw)
    except ValueError:
        envelope = None
    if not isinstance(envelope, dict) or envelope.get("subject") != entry.record.query_id:
        raise Invalid(f"dead letter {entry.id} is no message of an accepted query: discard it")
    return envelope
