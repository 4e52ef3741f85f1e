"""A TCP proxy in front of the server: delays, cuts, stalls, and loses single replies. Knows no commands.

A reply can't vanish from a TCP connection that lives on: a lost reply is one that the server has sent, and whose
connection ends before it arrives.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote, urlsplit

from bus import Tls

from .site import NO_TLS

_CHUNK = 1 << 16
_PORT = 6379


@dataclass(eq=False)
class _Link:
    """One client's connection and its twin to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    loses_next_reply: bool = False

    def abort(self) -> None:
        """End both, at once and without a goodbye."""
        for writer in (self.client, self.server):
            writer.transport.abort()


@dataclass(eq=False)
class _Loss:
    """A reply to be lost: of the next request that holds these bytes."""

    request_holds: bytes
    lost: asyncio.Event


class Proxy:
    """Listens on a free loopback port and passes on to a server: redis://, rediss:// or unix://.

    Plain before, as its URL says behind.
    """

    def __init__(self, url: str, tls: Tls = NO_TLS) -> None:
        parts = urlsplit(url)
        self._target = parts
        self._context = tls.context() if parts.scheme == "rediss" else None
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._losses: list[_Loss] = []
        self._flows = asyncio.Event()
        self._flows.set()
        self._refuses = False
        self._delay_s = 0.0
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """The server's URL as seen through the proxy, password included."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        user, at, _ = self._target.netloc.rpartition("@")
        database = "" if self._target.scheme == "unix" else self._target.path
        return f"redis://{user}{at}127.0.0.1:{port}{database}"

    @property
    def connections(self) -> int:
        """How many are open now."""
        return len(self._links)

    def cut(self) -> None:
        """End every connection; whoever comes again is let in."""
        for link in tuple(self._links):
            link.abort()

    @asynccontextmanager
    async def refusing(self) -> AsyncIterator[None]:
        """Cut, and let nobody in meanwhile."""
        self._refuses = True
        self.cut()
        try:
            yield
        finally:
            self._refuses = False

    @asynccontextmanager
    async def stalled(self) -> AsyncIterator[None]:
        """Hold back all bytes, both ways; what was sent meanwhile arrives afterwards, its sender gone or not."""
        self._flows.clear()
        try:
            yield
        finally:
            self._flows.set()

    @asynccontextmanager
    async def delayed(self, seconds: float) -> AsyncIterator[None]:
        """Pass on everything that much later."""
        before, self._delay_s = self._delay_s, seconds
        try:
            yield
        finally:
            self._delay_s = before

    async def lose_reply(self, request_holds: bytes, *, within_s: float = 5.0) -> bool:
        """Lose the reply of the next request that holds these bytes; whether there was one in time."""
        loss = _Loss(request_holds, asyncio.Event())
        self._losses.append(loss)
        try:
            async with asyncio.timeout(within_s):
                return await loss.lost.wait()
        except TimeoutError:
            return False
        finally:
            if loss in self._losses:
                self._losses.remove(loss)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            writer.transport.abort()
            return
        try:
            answers, requests = await self._connect()
        except OSError:  # the server is away: so is the proxy
            writer.transport.abort()
            return
        link = _Link(writer, requests)
        self._links.add(link)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_requests(reader, link))
                group.create_task(self._pass_replies(answers, link))
        finally:
            self._links.discard(link)
            link.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._target.scheme == "unix":
            return await asyncio.open_unix_connection(unquote(self._target.path))
        return await asyncio.open_connection(
            self._target.hostname or "localhost",
            self._target.port or _PORT,
            ssl=self._context,
        )

    async def _pass_requests(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                for loss in tuple(self._losses):
                    if loss.request_holds in data:
                        self._losses.remove(loss)
                        link.loses_next_reply = True
                        loss.lost.set()
                await self._send(link.server, data)
        link.server.close()

    async def _pass_replies(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if link.loses_next_reply:
                    break
                await self._send(link.client, data)
        link.abort()

    async def _send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        await self._flows.wait()
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        writer.write(data)
        await writer.drain()
