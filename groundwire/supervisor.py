"""Keeps worker processes alive: starts them, notices at once when one dies, starts it again.

It knows processes and names, and nothing of streams: what a death means for the work in hand is the
business of `on_death`.
"""

import asyncio
import logging
import os
import re
import secrets
import signal
import socket
import sys
import sysconfig
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from contracts.errors import Transient

__all__ = [
    "Birth",
    "Start",
    "Supervisor",
    "WorkerInfo",
    "WorkerSpec",
    "as_command",
    "child_environment",
    "new_consumer_name",
    "successor_name",
    "worker_command",
]

QUICK_S = 5.0  # a death this soon after the start is the worker's own fault
BACKOFF_S = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 5.0)
FAILING_DEATHS = 3  # quick ones in a row, from which on a worker counts as failing
ON_DEATH_S = 5.0

MakeCommand = Callable[[str, int], Sequence[str]]  # (consumer, lifeline file descriptor)
OnDeath = Callable[[str, str, int], Awaitable[None]]  # (stage, consumer, return code)

log = logging.getLogger(__name__)


class Process(Protocol):
    """A worker's process, whoever is its parent. **Invariant**: it leads a process group of its own."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    def send_signal(self, number: signal.Signals, /) -> None: ...


@dataclass(frozen=True)
class Birth:
    """What one worker is started with. `lifeline`: a file descriptor whose end of file means: stop."""

    consumer: str
    lifeline: int
    log_file: Path
    env: Mapping[str, str]


Start = Callable[[Birth], Awaitable[Process]]


@dataclass(frozen=True)
class WorkerSpec:
    """How many workers of a stage to run, and how one is started; OSError if it can't be now."""

    stage: str
    count: int
    start: Start


@dataclass(frozen=True)
class WorkerInfo:
    """One supervised place, as it is now; `pid` is None between two lives."""

    stage: str
    consumer: str
    pid: int | None
    restarts: int
    since: float  # seconds since the epoch
    failing: bool
    log_file: Path


@dataclass
class _Place:
    """A place that holds one living worker. **Invariant**: no consumer name is used twice."""

    spec: WorkerSpec
    log_file: Path
    consumer: str = ""
    process: Process | None = None
    starts: int = 0
    quick_deaths: int = 0
    since: float = field(default_factory=time.time)

    def info(self) -> WorkerInfo:
        alive = self.process is not None and self.process.returncode is None
        return WorkerInfo(
            stage=self.spec.stage,
            consumer=self.consumer,
            pid=self.process.pid if self.process is not None and alive else None,
            restarts=max(0, self.starts - 1),
            since=self.since,
            failing=self.quick_deaths >= FAILING_DEATHS,
            log_file=self.log_file,
        )


class Supervisor:
    """The workers of one system. Leaving its context, or this process's end, ends them all."""

    def __init__(
        self,
        specs: Sequence[WorkerSpec],
        *,
        logs: Path,
        on_death: OnDeath,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._logs = logs
        self._on_death = on_death
        self._env = child_environment(os.environ if env is None else env)
        self._places = [
            _Place(spec, logs / f"{spec.stage}-{number}.log")
            for spec in specs
            for number in range(1, spec.count + 1)
        ]
        self._stopping = asyncio.Event()
        self._keepers: list[asyncio.Task[None]] = []
        self._lifeline: tuple[int, int] | None = None
        self._sent: signal.Signals | None = None
        self._changes = 0

    async def start(self) -> None:
        """Start every worker, all at once; returns when all processes exist."""
        assert self._lifeline is None, "a supervisor starts once"
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in self._places:
            _rotate(place.log_file)
        self._lifeline = os.pipe()
        spawns = (self._spawn(place) for place in self._places)
        born = await asyncio.gather(*spawns, return_exceptions=True)
        self._keepers = [
            asyncio.create_task(self._keep(place), name=place.log_file.stem)
            for place in self._places
        ]
        for failure in born:
            if failure is not None:
                raise failure

    async def wait(self) -> None:
        """Return when stopped; raises what an `on_death` raised that wasn't a passing failure."""
        # Not gather: cancelling that would cancel the keepers, and with them every drain.
        done, _ = await asyncio.wait(self._keepers, return_when=asyncio.FIRST_EXCEPTION)
        for keeper in done:
            keeper.result()

    def workers(self) -> list[WorkerInfo]:
        """Every place as it is now, in the order of the specs."""
        return [place.info() for place in self._places]

    def names_of(self, consumer: str) -> list[str]:
        """Each name that the process of a consumer may have by now: it takes another with new settings."""
        numbers = range(1, self._changes + 1)
        return [consumer, *(successor_name(consumer, number) for number in numbers)]

    def change(self) -> None:
        """SIGHUP to every worker: the settings are others now."""
        self._changes += 1
        for place in self._places:
            if place.process is not None:
                _send(place.process, signal.SIGHUP)

    async def stop(self, grace_s: float) -> None:
        """SIGTERM to every worker, SIGKILL to what is left after the grace.

        Callable more than once; a second call with less grace shortens the first.
        """
        self._stopping.set()
        self._signal(signal.SIGTERM)
        try:
            if self._keepers:
                await asyncio.wait(self._keepers, timeout=grace_s)
        finally:
            self._signal(signal.SIGKILL)
        await asyncio.gather(*self._keepers, return_exceptions=True)
        if self._lifeline is not None:
            for end in self._lifeline:
                os.close(end)
            self._lifeline = None

    async def __aenter__(self) -> "Supervisor":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop(grace_s=0.0)

    async def _keep(self, place: _Place) -> None:
        while (process := place.process) is not None:
            code = await process.wait()
            quick = time.time() - place.since < QUICK_S
            place.quick_deaths = place.quick_deaths + 1 if quick else 0
            if self._stopping.is_set():
                return
            await self._report(place, code)
            if not await self._respawn(place):
                return

    async def _respawn(self, place: _Place) -> bool:
        """Start the place's next worker, trying for ever; False when told to stop first."""
        while True:
            index = min(max(0, place.quick_deaths - 1), len(BACKOFF_S) - 1)
            if await self._stops_within(BACKOFF_S[index]):
                return False
            try:
                await self._spawn(place)
            except OSError as error:  # no memory, no process table entry: may pass
                place.quick_deaths += 1
                log.warning(
                    "worker.not_started", extra={"stage": place.spec.stage, "reason": str(error)}
                )
            else:
                return True

    async def _spawn(self, place: _Place) -> None:
        assert self._lifeline is not None
        place.consumer = new_consumer_name()
        birth = Birth(place.consumer, self._lifeline[0], place.log_file, self._env)
        place.process = await place.spec.start(birth)
        place.starts += 1
        place.since = time.time()
        if self._sent is not None:  # stop() came while this one was being born
            _send(place.process, self._sent)

    async def _report(self, place: _Place, code: int) -> None:
        """Tell `on_death`; a passing failure there (server away) never stops the restart."""
        info = place.info()
        facts = {"stage": info.stage, "consumer": info.consumer, "code": code}
        event = "worker.failing" if info.failing else "worker.died"
        log.warning(event, extra=facts | {"log_file": str(info.log_file)})
        try:
            async with asyncio.timeout(ON_DEATH_S):
                await self._on_death(info.stage, info.consumer, code)
        except (Transient, TimeoutError, OSError) as error:
            log.warning("worker.death_not_reported", extra=facts | {"reason": type(error).__name__})

    async def _stops_within(self, delay_s: float) -> bool:
        try:
            async with asyncio.timeout(delay_s):
                return await self._stopping.wait()
        except TimeoutError:
            return False

    def _signal(self, number: signal.Signals) -> None:
        self._sent = number
        for place in self._places:
            if place.process is not None:
                _send(place.process, number)


def new_consumer_name() -> str:
    """`<host>-<token>`: no process id, which containers share and kernels reuse."""
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:63] or "host"
    return f"{host}-{secrets.token_hex(4)}"


def successor_name(consumer: str, number: int) -> str:
    """The consumer that a worker is after its so-many-th change of settings."""
    return f"{consumer}.{number}"


def worker_command(stage: str, *options: str, program: str = "groundwire.worker") -> MakeCommand:
    """The command of one worker of a stage, as a process of its own; `program` is the module that is one."""

    def command(consumer: str, lifeline: int) -> Sequence[str]:
        # -P: the folder that someone runs us in may hold a folder called `agents`.
        python = (sys.executable, "-P", "-m", program, stage)
        return (*python, "--consumer", consumer, "--lifeline", str(lifeline), *options)

    return command


def as_command(make: MakeCommand) -> Start:
    """Start workers as commands, each a program of its own."""

    async def start(birth: Birth) -> Process:
        with _appending(birth.log_file) as output:
            return await asyncio.create_subprocess_exec(
                *make(birth.consumer, birth.lifeline),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=birth.env,
                pass_fds=[birth.lifeline],
                start_new_session=True,  # a terminal's Ctrl-C reaches the supervisor alone
            )

    return start


def _appending(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _rotate(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.replace(f"{path}.1")


def _send(process: Process, number: signal.Signals) -> None:
    """Signal a child; at the end its whole group, with what it started itself."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if number == signal.SIGKILL:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def child_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment with output unbuffered, and this very groundwire importable from anywhere."""
    child = {"PYTHONUNBUFFERED": "1", **env}
    root = str(Path(__file__).resolve().parent.parent)
    if root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        child["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [env.get("PYTHONPATH")])])
    return child
