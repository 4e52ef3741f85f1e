"""Isolation of suspects: a delivery that comes again runs alone, so that a crash charges only its cause."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Many may pass at once, or one alone. An open gate costs two additions and no await."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._empty = asyncio.Event()
        self._open = asyncio.Event()
        self._one = asyncio.Lock()

    async def enter(self) -> None:
        """Go in with the others; waits while someone is alone."""
        while self._closed:
            await self._open.wait()
        self._inside += 1

    def leave(self) -> None:
        """Come out."""
        self._inside -= 1
        if self._closed and not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all are out, keep them out."""
        async with self._one:
            self._closed = True
            self._open.clear()
            self._empty.clear()
            try:
                if self._inside:
                    await self._empty.wait()
                yield
            finally:
                self._closed = False
                self._open.set()
