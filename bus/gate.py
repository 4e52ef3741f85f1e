"""Who of a worker's runners may run now, over all its lanes: so many at once, a suspect alone.

A delivery that comes again runs alone, so that a crash charges only its cause.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_MANY = 1 << 30


class Gate:
    """Many may pass at once, or one alone. An open gate costs two additions and no waiting.

    Invariant: somebody waits only while the gate is closed or `limit` are inside; who comes out lets in who has
    waited longest, so that a lane with much work doesn't starve one with little.
    """

    def __init__(self, limit: int = _MANY) -> None:
        self._limit = limit
        self._inside = 0
        self._closed = False
        self._empty = asyncio.Event()
        """Whether nobody is inside; kept only while the gate is closed."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._one = asyncio.Lock()

    async def enter(self) -> None:
        """Go in with the others; waits while someone is alone, or too many are inside."""
        if self._closed or self._waiting or self._inside >= self._limit:
            await self._wait()
        else:
            self._inside += 1

    def leave(self) -> None:
        """Come out."""
        self._inside -= 1
        if self._waiting and not self._closed:
            self._let_in()
        elif self._closed and not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all are out, keep them out."""
        async with self._one:
            self._closed = True
            self._empty.clear()
            try:
                if self._inside:
                    await self._empty.wait()
                yield
            finally:
                self._closed = False
                self._let_in()

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # it was let in at the same moment
            raise

    def _let_in(self) -> None:
        while self._waiting and self._inside < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)
