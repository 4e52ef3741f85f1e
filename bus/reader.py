"""The reader: fills the hand from the stage's stream on a connection of its own, never cancelled mid-read."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from redis import exceptions as errors

from contracts import Unreachable

from .delivery import Delivery, fields_of
from .groups import ensure_group, is_group_lost
from .hand import Hand
from .log import Log
from .pause import Pause
from .settle import Place
from .watch import Vitals
from .wire import Wire, text

_READ_AT_MOST = 128
_RECHECK_S = 0.02


class Reader:
    """Reads while there is room in the hand and the next stages are under their mark."""

    def __init__(self, place: Place, wire: Wire, hand: Hand, vitals: Vitals, log: Log) -> None:
        self._place = place
        self._wire = wire
        self._hand = hand
        self._vitals = vitals
        self._log = log
        self._stopping = False
        self._client_id: int | None = None
        self._numbered = 0
        """The connection that has this id."""
        self._is_owed = False
        """Whether a read was begun and none has come back since."""
        self.backlog = 0
        """The longest next stream, as last seen."""

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more should be taken in hand."""
        return self._stopping

    async def run(self) -> None:
        """Read until `stop`; a server that is gone is waited for."""
        pause = Pause()
        while not self._stopping:
            self._vitals.is_free = False
            room = await self._hand.wait_for_room()
            if await self._must_wait() or self._stopping:
                continue
            self._begin_reading()
            try:
                await self._read(min(room, _READ_AT_MOST))
                pause.reset()
            except Unreachable as error:
                self._client_id = None
                self._log("read.failed", stage=self._place.stage.name, error=str(error)[:200])
                await pause.wait()
            except errors.ResponseError as error:
                await self._recover(error)
                await pause.wait()

    async def stop(self, other: Wire) -> None:
        """Ask the reader to end: the blocked read returns at once, with what it has."""
        self._stopping = True
        self._hand.wake()
        if self._client_id is not None:
            try:
                await other.call("CLIENT", "UNBLOCK", self._client_id)
            except (Unreachable, errors.ResponseError):
                return  # the read ends by itself after its BLOCK

    async def _read(self, count: int) -> None:
        place = self._place
        if self._client_id is None or self._numbered != self._wire.connection_number:
            self._client_id = await self._wire.call("CLIENT", "ID")
            self._numbered = self._wire.connection_number
        block_ms = int(place.config.block_s * 1000)
        reply = await self._wire.call(
            *("XREADGROUP", "GROUP", place.stage.name, place.consumer),
            *("COUNT", count, "BLOCK", block_ms, "STREAMS", place.stream, ">"),
        )
        self._vitals.read_at, self._is_owed = time.monotonic(), False
        took = False
        for entry_id, flat in entries_of(reply):
            took |= self._hand.take(Delivery(text(entry_id), fields_of(flat), deliveries=1))
        if took:
            # The runner's and the settler's turn first: the next read can wait, this message can't.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    def _begin_reading(self) -> None:
        """From now on there is reason to read, and time counts against it: also over tries that fail at once."""
        if not self._is_owed:
            self._vitals.read_at, self._is_owed = time.monotonic(), True
        self._vitals.is_free = True

    async def _must_wait(self) -> bool:
        """Whether a next stage is over its mark; then looks again shortly."""
        mark = self._place.config.backlog_mark
        if self.backlog < mark:
            return False
        await asyncio.sleep(_RECHECK_S)
        try:
            lengths = [
                await self._wire.call("XLEN", self._place.keys.of(name))
                for name in self._place.stage.next_streams
            ]
        except (Unreachable, errors.ResponseError):
            return True
        self.backlog = max(lengths, default=0)
        return self.backlog >= mark

    async def _recover(self, error: errors.ResponseError) -> None:
        stage = self._place.stage.name
        if not is_group_lost(error):
            self._log("read.refused", stage=stage, error=str(error)[:200])
            return
        try:
            if await ensure_group(self._wire, self._place.stream, stage):
                self._log("group.recreated", stage=stage)
        except (Unreachable, errors.ResponseError) as again:
            self._log("group.failed", stage=stage, error=str(again)[:200])


def entries_of(reply: Any) -> Iterator[tuple[bytes, list[bytes] | None]]:
    """The entries of an XREADGROUP or XREAD reply for one stream, in RESP2 or RESP3 shape."""
    if not reply:
        return
    streams = reply.values() if isinstance(reply, dict) else (part[1] for part in reply)
    for entries in streams:
        yield from entries
