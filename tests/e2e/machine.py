"""What end-to-end tests share: a home, the console script, processes and how they end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from bus import Bus
from contracts import TOPOLOGY, FormattedResponse, Query
from groundwire.client import connect
from groundwire.embedded.process import is_running
from groundwire.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
RUNBOOKS = ROOT / "examples" / "runbooks"
SCRIPT = Path(sys.executable).with_name("groundwire")
STAGES = tuple(stage.name for stage in TOPOLOGY.stages)
START_S = 120.0
"""For five processes on a busy machine; a start takes about four seconds on an idle one."""


def eventually(
    condition: Callable[[], object], what: str, within_s: float = 10.0, every_s: float = 0.01
) -> None:
    """Return once the condition holds; fail when it doesn't in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s"
        time.sleep(every_s)


@dataclass(frozen=True)
class Home:
    """A folder that commands run in, with a system's home of its own under it."""

    folder: Path
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> Path:
        """What GROUNDWIRE_HOME would be if it were set."""
        return self.folder / ".groundwire"

    @property
    def environment(self) -> dict[str, str]:
        """This process's, with no variables of Groundwire's but the home's own, and a profile quick to start."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GROUNDWIRE_", "COLUMNS"))}
        return kept | {"GROUNDWIRE_PROFILE": "fast"} | dict(self.variables)

    @property
    def settings(self) -> Settings:
        """The settings that a command in this folder reads."""
        return load_settings(self.environment, self.folder)

    def start(self, *arguments: object, log: str = "command.log") -> "subprocess.Popen[bytes]":
        """Start the console script here; what it says goes to a file of the folder."""
        with (self.folder / log).open("ab") as output:
            return subprocess.Popen(
                [SCRIPT, *map(str, arguments)],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def run(
        self, *arguments: object, stdin: str = "", timeout_s: float = 60.0
    ) -> "subprocess.CompletedProcess[str]":
        """Run the console script here to its end."""
        return subprocess.run(
            [SCRIPT, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    def said(self, log: str = "command.log") -> str:
        """What a started command has said by now."""
        return (self.folder / log).read_text(errors="replace")

    def logs(self) -> dict[str, str]:
        """Every log of the system's processes by name."""
        files = sorted(self.path.glob("logs/*")) + sorted(self.path.glob("server/server.log*"))
        return {file.name: file.read_text(errors="replace") for file in files}

    def owner(self) -> int | None:
        """The process that says, or said before it was killed, that it has a system ready here."""
        try:
            return int(json.loads((self.path / "system.json").read_text())["pid"])
        except FileNotFoundError:
            return None

    def connect(self) -> AbstractAsyncContextManager[Bus]:
        """Groundwire's client of the system here."""
        return connect(settings=self.settings)

    @contextmanager
    def redis(self) -> Iterator[redis.Redis]:
        """A plain client of the server here, as anyone may have one."""
        own = self.settings.redis_url
        url = own.get_secret_value() if own else (self.path / "server" / "url").read_text().strip()
        with redis.Redis.from_url(url, protocol=2) as client:
            yield client


@contextmanager
def running_up(home: Home, *arguments: object) -> Iterator["subprocess.Popen[bytes]"]:
    """`groundwire up` in a home, ready; interrupted afterwards, and nothing of it left."""
    process = home.start("up", *arguments)
    family: set[int] = set()
    try:
        await_up(home, process)
        yield process
    finally:
        family |= descendants(process.pid)
        end(process)
    left = [pid for pid in family if is_running(pid)]
    assert not left, f"still running: {left}\n{home.said()}"


def await_up(home: Home, process: "subprocess.Popen[bytes]") -> None:
    """Return when `up` is ready; fail with what it said when it ends before."""

    def is_settled() -> bool:
        return home.owner() == process.pid or process.poll() is not None

    eventually(is_settled, "up", START_S)
    assert process.poll() is None, home.said()


def end(process: "subprocess.Popen[bytes]", within_s: float = 20.0) -> int:
    """Ctrl-C, and -9 if that is ignored; the exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        return process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def descendants(pid: int) -> set[int]:
    """The processes that a process started, and that those did."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [tuple(map(int, line.split())) for line in listing.stdout.splitlines()]
    found: set[int] = set()
    generation = {pid}
    while generation:
        generation = {child for child, parent in pairs if parent in generation} - found
        found |= generation
    return found


def worker_pids(server: redis.Redis, stage: str) -> list[int]:
    """The processes of a stage's live workers, as their liveness keys name them."""
    keys = list(server.scan_iter(f"gw:{{0}}:{stage}:alive:*", count=1000))
    return [int(value) for value in map(server.get, keys) if value]


def call(server: redis.Redis, *words: str | bytes | int) -> Any:
    """One command of a plain client."""
    return server.execute_command(*words)  # type: ignore[no-untyped-call]


def add(server: redis.Redis, stream: str, fields: Mapping[str, str | bytes]) -> str:
    """Put an entry on a stream by hand; its id."""
    words = [word for field in fields.items() for word in field]
    return bytes(call(server, "XADD", stream, "*", *words)).decode()


def query(text: str, session_id: str = "e2e", **fields: Any) -> Query:
    """A question as a client asks it."""
    return Query(text=text, session_id=session_id, **fields)


async def asked(bus: Bus, text: str, **fields: Any) -> FormattedResponse:
    """Submit a question and wait for its result."""
    return await bus.result(await bus.submit(query(text, **fields)), timeout_s=30.0)


async def results_so_far(bus: Bus, after: str, count: int) -> tuple[str, list[FormattedResponse]]:
    """So many results of all streams behind a cursor, and the cursor behind the last."""
    found: list[FormattedResponse] = []
    if count:
        async with asyncio.timeout(30.0):
            async for result in bus.results("all", after=after):
                after = result.cursor
                found.append(result.response)
                if len(found) == count:
                    break
    return after, found


async def soon(
    condition: Callable[[], Awaitable[object]], what: str, within_s: float = 30.0
) -> None:
    """Return once the condition holds; fail when it doesn't in time. Holds up no loop."""
    deadline = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s"
        await asyncio.sleep(0.02)


async def is_settled(bus: Bus) -> bool:
    """Whether no query is open."""
    return (await bus.status()).open == 0
