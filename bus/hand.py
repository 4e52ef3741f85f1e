"""What a worker has in hand: read or claimed, not yet settled."""

import asyncio
from collections import deque

from .config import BusConfig
from .delivery import Delivery

_SMOOTHING = 0.05


class Hand:
    """Deliveries by id, and the queue of those not started.

    Invariant: a delivery is in `held` from its read to its settle; `inbox` holds those of them that wait for a runner.
    """

    def __init__(self, config: BusConfig) -> None:
        self._config = config
        self.held: dict[str, Delivery] = {}
        self.inbox: deque[Delivery] = deque()
        self._arrived = asyncio.Event()
        self._freed = asyncio.Event()
        self._handled_s: float | None = None
        self._woken = False

    @property
    def window(self) -> int:
        """How many may be in hand: the concurrency, and what is done in `prefetch_s` at the recent pace."""
        concurrency = self._config.concurrency
        if self._handled_s is None:
            return concurrency
        ahead = self._config.prefetch_s / max(self._handled_s, 1e-6) * concurrency
        return concurrency + min(self._config.prefetch, int(ahead))

    @property
    def room(self) -> int:
        """How many more may be read now."""
        return self.window - len(self.held)

    async def wait_for_room(self) -> int:
        """Wait until a read is worth its round trip, or `wake`; returns how many to read."""
        while self.room < max(1, self.window // 4) and not self._woken:
            self._freed.clear()
            await self._freed.wait()
        return max(1, self.room)

    def wake(self) -> None:
        """End all waiting for room, now and later."""
        self._woken = True
        self._freed.set()

    def take(self, delivery: Delivery) -> bool:
        """Take a delivery in hand; False if it already is (a reply that came late)."""
        if delivery.id in self.held:
            return False
        self.held[delivery.id] = delivery
        self.inbox.append(delivery)
        self._arrived.set()
        return True

    async def next(self) -> Delivery:
        """The next delivery to start."""
        while not self.inbox:
            self._arrived.clear()
            await self._arrived.wait()
        return self.inbox.popleft()

    def drop(self, delivery: Delivery) -> None:
        """The delivery is settled, or not ours any more."""
        self.held.pop(delivery.id, None)
        self._freed.set()

    def pace(self, handled_s: float) -> None:
        """Note how long a handler took."""
        known = self._handled_s
        self._handled_s = handled_s if known is None else known + _SMOOTHING * (handled_s - known)

    def withdraw(self, delivery: Delivery) -> bool:
        """Keep a delivery from the runners; False if one has started it."""
        if delivery not in self.inbox:
            return False
        self.inbox.remove(delivery)
        return True

    def empty_inbox(self) -> list[Delivery]:
        """Take back what no runner has started."""
        unstarted = list(self.inbox)
        self.inbox.clear()
        for delivery in unstarted:
            self.drop(delivery)
        return unstarted
