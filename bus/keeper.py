"""The keeper: looks four times a second after what reading alone would miss.

Due retries, dead siblings' work, entries whose read reply was lost, work past its deadline, the next stages' backlog,
the server's clock.
"""

import asyncio
import time
from typing import Any

from redis import exceptions as errors

from contracts import Unreachable

from .beat import Beat
from .clock import ServerClock
from .delivery import Delivery, fields_of, order_of
from .groups import ensure_group, is_group_lost
from .hand import Hand
from .log import Log
from .overdue import Overdue
from .reader import Reader
from .settle import Place
from .watch import Vitals, Watch, handling_of
from .wire import Wire, text

_OWN_REPORTED = 500
_REAP_AFTER_MS = 10_000


class Keeper:
    """One for each lane of a worker."""

    def __init__(
        self,
        place: Place,
        wire: Wire,
        *,
        hand: Hand,
        reader: Reader,
        beat: Beat,
        clock: ServerClock,
        overdue: Overdue,
        vitals: Vitals,
        watch: Watch | None,
        log: Log,
    ) -> None:
        self._place = place
        self._wire = wire
        self._hand = hand
        self._reader = reader
        self._beat = beat
        self._clock = clock
        self._overdue = overdue
        self._vitals = vitals
        self._watch = watch
        self._log = log
        self._missed: set[str] = set()
        self._ticks_to_lease = 0

    async def run(self) -> None:
        """Tick for ever; returns only by cancellation."""
        while True:
            try:
                await self.tick()
            except (Unreachable, errors.RedisError) as error:
                # A group lost in the middle of a tick is told once, by whoever creates it again.
                if not is_group_lost(error):
                    self._log("tick.failed", stage=self._place.stage.name, error=str(error)[:200])
            await asyncio.sleep(self._place.config.tick_s)

    async def show_life(self) -> None:
        """Tell the beat for ever that the loop turns: not from the tick, which waits for a frozen server."""
        while True:
            self._beat.loop_is_alive()
            asked = time.monotonic()
            await asyncio.sleep(self._place.config.tick_s)
            if self._watch is not None:
                late_s = time.monotonic() - asked - self._place.config.tick_s
                self._watch.lagged(max(0.0, late_s))

    async def tick(self) -> None:
        """One look, and what follows from it."""
        place, keys = self._place, self._place.keys
        stream = place.stage.consumes
        names = [place.stream, keys.delayed(stream), keys.delayed_body(stream), keys.open]
        names += [keys.of(name) for name in place.stage.next_streams]
        watched = int(self._watch is not None and self._watch.is_measuring)
        now_ms, has_group, backlog, own, others, overdue, seen = await self._wire.script(
            "tick", names, [place.stage.name, place.consumer, _OWN_REPORTED, watched]
        )
        self._clock.set(now_ms)
        self._reader.backlog = backlog
        self._note(now_ms, bool(has_group), seen)
        if not has_group:
            if await ensure_group(self._wire, place.stream, place.stage.name):
                self._log("group.recreated", stage=place.stage.name)
            return
        if self._reader.is_stopping:
            return
        await self._reconcile([text(entry_id) for entry_id in own[::3]], own[2::3])
        await self._claim([text(name) for name in others[::3]], others[1::3], others[2::3])
        if overdue:
            await self._overdue.look()

    def _note(self, now_ms: int, has_group: bool, seen: list[Any]) -> None:
        """What whoever asks after this worker is told."""
        vitals = self._vitals
        vitals.has_group, vitals.ticked_at = has_group, time.monotonic()
        if not seen:
            return
        vitals.backlog, first, vitals.delayed, vitals.open = seen
        vitals.in_flight = len(self._hand.held)
        vitals.oldest_s = max(0, now_ms - order_of(text(first))[0]) / 1000 if first else 0.0

    async def _reconcile(self, ids: list[str], counts: list[int]) -> None:
        """Take in hand what the server counts as ours at two ticks running and we never got."""
        unknown = {
            entry_id: count
            for entry_id, count in zip(ids, counts, strict=True)
            if entry_id not in self._hand.held
        }
        for entry_id in self._missed & unknown.keys():
            entries = await self._wire.call("XRANGE", self._place.stream, entry_id, entry_id)
            for _, flat in entries:
                found = Delivery(entry_id, fields_of(flat), unknown[entry_id])
                if self._hand.take(found):
                    self._log("delivery.reconciled", **handling_of(found, self._place).fields())
        self._missed = set(unknown)

    async def _claim(self, names: list[str], pending: list[int], idle_ms: list[int]) -> None:
        """Take over from the dead: only if our own beats show that the server hears beats at all."""
        suspects = [
            name
            for name, work, idle in zip(names, pending, idle_ms, strict=True)
            if work or idle > _REAP_AFTER_MS
        ]
        self._ticks_to_lease -= 1
        lease_is_due = self._ticks_to_lease <= 0
        if not self._beat.is_proven or not (suspects or lease_is_due):
            return
        config, place = self._place.config, self._place
        if lease_is_due:
            self._ticks_to_lease = max(1, int(config.lease_s / 4 / config.tick_s))
        keys = [place.stream, *(place.keys.alive(place.stage.name, name) for name in suspects)]
        room = max(0, self._hand.room)
        lease_ms = int(config.lease_s * 1000) if lease_is_due else 0
        claimed = await self._wire.script(
            "claim",
            keys,
            [place.stage.name, place.consumer, room, lease_ms, _REAP_AFTER_MS, *suspects],
        )
        for i in range(0, len(claimed), 3):
            taken = Delivery(text(claimed[i]), fields_of(claimed[i + 2]), claimed[i + 1])
            self._hand.take(taken)
            self._log("delivery.claimed", **handling_of(taken, place).fields())
