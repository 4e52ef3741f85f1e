"""The proxy on plain connections: what it does to bytes, and to nothing else."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire.chaos.proxy import Proxy

WITHIN_S = 5.0


@dataclass
class Line:
    """A client's connection through the proxy."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, text: bytes) -> None:
        self.writer.write(text + b"\n")
        await self.writer.drain()

    async def hear(self, within_s: float = WITHIN_S) -> bytes:
        """The next line; empty when the connection ended."""
        async with asyncio.timeout(within_s):
            try:
                return (await self.reader.readline()).strip()
            except ConnectionError:
                return b""

    async def ask(self, text: bytes) -> bytes:
        await self.send(text)
        return await self.hear()


class Echo:
    """A server that repeats lines, and remembers them."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            self.heard.append(line.strip())
            writer.write(line)
        writer.close()


class Bench:
    """An echo server, a proxy before it, and the clients of a test."""

    def __init__(self, echo: Echo, proxy: Proxy) -> None:
        self.echo = echo
        self.proxy = proxy
        self.lines: list[Line] = []

    async def dial(self) -> Line:
        port = int(self.proxy.url.rpartition(":")[2].partition("/")[0])
        line = Line(*await asyncio.open_connection("127.0.0.1", port))
        self.lines.append(line)
        return line


@asynccontextmanager
async def opened(kind: str) -> AsyncIterator[Bench]:
    echo = Echo()
    with tempfile.TemporaryDirectory(prefix="gw-") as folder:
        if kind == "unix":
            path = Path(folder) / "s"
            server = await asyncio.start_unix_server(echo.serve, path)
            url = f"unix://:secret@{path}"
        else:
            server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
            url = f"redis://:secret@127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        async with server, Proxy(url) as proxy:
            bench = Bench(echo, proxy)
            yield bench
            for line in bench.lines:
                line.writer.close()


@pytest.fixture(params=["unix", "tcp"])
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    async with opened(request.param) as bench:
        yield bench


async def test_bytes_pass_both_ways(bench: Bench) -> None:
    line = await bench.dial()
    assert await line.ask(b"hello") == b"hello"
    assert bench.proxy.url.startswith("redis://:secret@127.0.0.1:")


async def test_a_cut_ends_every_connection_and_lets_new_ones_in(bench: Bench) -> None:
    lines = [await bench.dial() for _ in range(3)]
    for line in lines:
        await line.ask(b"there")
    bench.proxy.cut()
    assert [await line.hear() for line in lines] == [b"", b"", b""]
    assert await (await bench.dial()).ask(b"again") == b"again"


async def test_who_comes_while_it_refuses_is_turned_away(bench: Bench) -> None:
    async with bench.proxy.refusing():
        line = await bench.dial()
        assert await line.hear() == b""
    assert await (await bench.dial()).ask(b"again") == b"again"


async def test_a_stall_holds_back_everything_and_loses_nothing(bench: Bench) -> None:
    line = await bench.dial()
    await line.ask(b"one")
    async with bench.proxy.stalled():
        await line.send(b"two")
        with pytest.raises(TimeoutError):
            await line.hear(within_s=0.2)
        assert bench.echo.heard == [b"one"]
    assert await line.hear() == b"two"


async def test_what_was_sent_into_a_stall_arrives_though_its_sender_is_gone(bench: Bench) -> None:
    """So a command that its client gave up is carried out late."""
    line = await bench.dial()
    await line.ask(b"one")
    async with bench.proxy.stalled():
        await line.send(b"late")
        line.writer.close()
        await asyncio.sleep(0.05)
    async with asyncio.timeout(WITHIN_S):
        while b"late" not in bench.echo.heard:  # noqa: ASYNC110 - a list has no event
            await asyncio.sleep(0.01)


async def test_a_delay_makes_each_way_that_much_longer(bench: Bench) -> None:
    line = await bench.dial()
    await line.ask(b"one")
    async with bench.proxy.delayed(0.05):
        started = time.monotonic()
        assert await line.ask(b"two") == b"two"
        assert time.monotonic() - started >= 0.1


async def test_one_reply_is_lost_and_its_request_was_carried_out(bench: Bench) -> None:
    """Its connection ends; those of others, and later requests, are left alone."""
    hurt, other = await bench.dial(), await bench.dial()
    await hurt.ask(b"one")
    losing = asyncio.create_task(bench.proxy.lose_reply(b"SETTLE"))
    await asyncio.sleep(0)
    assert await other.ask(b"read") == b"read"
    assert await hurt.ask(b"SETTLE 1") == b""
    assert await losing
    assert b"SETTLE 1" in bench.echo.heard
    assert await (await bench.dial()).ask(b"SETTLE 2") == b"SETTLE 2"
    assert await other.ask(b"read") == b"read"


async def test_a_loss_that_finds_no_request_ends_without_effect(bench: Bench) -> None:
    line = await bench.dial()
    assert not await bench.proxy.lose_reply(b"SETTLE", within_s=0.05)
    assert await line.ask(b"SETTLE") == b"SETTLE"


async def test_a_server_that_is_away_looks_like_a_connection_that_ends() -> None:
    async with Proxy("unix:///nowhere/s") as proxy:
        line = await Bench(Echo(), proxy).dial()
        assert await line.hear() == b""
        line.writer.close()
        await asyncio.sleep(0.01)
        assert proxy.connections == 0
