"""The settler: sends settlements in batches until the server has taken or refused each of them for good."""

import asyncio
from collections import deque
from collections.abc import Sequence

from redis import exceptions as errors

from contracts import Unreachable

from .clock import ServerClock
from .config import BusConfig
from .delivery import Settlement
from .hand import Hand
from .log import Log
from .pause import Pause
from .settle import Place, settle_call
from .watch import Watch, handling_of, hop_of
from .wire import Wire, text


class Settler:
    """Flushes at once when idle, batches what piled up meanwhile. One call under way at a time."""

    def __init__(
        self,
        place: Place,
        wire: Wire,
        hand: Hand,
        clock: ServerClock,
        watch: Watch | None,
        log: Log,
    ) -> None:
        self._place = place
        self._wire = wire
        self._hand = hand
        self._clock = clock
        self._watch = watch
        self._log = log
        self._outbox: deque[Settlement] = deque()
        self._filled = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._turn = asyncio.Lock()

    def put(self, settlement: Settlement) -> None:
        """Hand over a settlement; it will be settled as long as this runs."""
        self._outbox.append(settlement)
        self._idle.clear()
        self._filled.set()

    async def settle(self, settlement: Settlement) -> None:
        """Settle at once, in the caller's own turn, where nothing is under way; else hand it over.

        One task switch less: what one query at a time waits for most.
        """
        if self._turn.locked() or self._outbox:
            self.put(settlement)
            return
        self._idle.clear()
        async with self._turn:
            refused = await self._settle([settlement])
        for again in refused:
            self.put(again)
        if not self._outbox:
            self._idle.set()

    async def wait_until_idle(self) -> None:
        """Wait until everything handed over is settled."""
        await self._idle.wait()

    async def run(self) -> None:
        """Settle for ever; returns only by cancellation."""
        pause = Pause()
        while True:
            if not self._outbox:
                self._filled.clear()
                await self._filled.wait()
            async with self._turn:
                batch = take_batch(self._outbox, self._place.config)
                refused = await self._settle(batch)
            if not refused:
                pause.reset()
                if not self._outbox:
                    self._idle.set()
                continue
            self._outbox.extend(refused)  # behind the others: what can be settled is not held up
            await pause.wait()

    async def _settle(self, batch: Sequence[Settlement]) -> list[Settlement]:
        """One call; returns what has to be sent again."""
        keys, args = settle_call(batch, self._place, self._clock.now())
        try:
            statuses = await self._wire.script("settle", keys, args)
        except (Unreachable, errors.RedisError) as error:
            # The reply may be lost and the work done: the same call again reads GONE.
            self._log("settle.repeated", stage=self._place.stage.name, error=str(error)[:200])
            return list(batch)
        refused = []
        for settlement, reply in zip(batch, statuses, strict=True):
            if reply == b"OK":
                self._hand.drop(settlement.delivery)
                if self._watch is not None:
                    self._watch.settled(hop_of(settlement, self._place))
                continue
            status = text(reply)
            if status.startswith("REFUSED"):
                refused.append(settlement)
                continue
            self._hand.drop(settlement.delivery)
            if status == "FENCED" and self._watch is not None:
                self._watch.settled(hop_of(settlement, self._place, is_fenced=True))
            if status == "NOT_PENDING":
                # Its group was lost, which is told where that is mended: this comes again.
                self._log("delivery.not_pending", **self._facts(settlement))
            elif status == "CLOSED":
                self._log("delivery.dropped", **self._facts(settlement))
        if refused:
            self._log("settle.refused", stage=self._place.stage.name, entries=len(refused))
        return refused

    def _facts(self, settlement: Settlement) -> dict[str, object]:
        return handling_of(settlement.delivery, self._place, settlement.subject).fields()


def take_batch(outbox: deque[Settlement], config: BusConfig) -> list[Settlement]:
    """The next settlements to send together: at most so many, at most so many bytes, at least one."""
    batch = [outbox.popleft()]
    size = batch[0].size
    while outbox and len(batch) < config.settle_entries:
        size += outbox[0].size
        if size > config.settle_bytes:
            break
        batch.append(outbox.popleft())
    return batch
