import asyncio
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from processes import HERE, environment, eventually, run_program, soon

from contracts.errors import Unreachable
from groundwire.embedded.process import is_running
from groundwire.supervisor import (
    Supervisor,
    WorkerSpec,
    as_command,
    new_consumer_name,
    successor_name,
    worker_command,
)


@dataclass
class Watched:
    """A supervisor of fake workers, and what happened to them."""

    supervisor: Supervisor
    notes: Path
    deaths: list[tuple[str, str, int]] = field(default_factory=list)

    def seen(self, text: str) -> list[str]:
        """The consumers that noted this."""
        return [
            line.split()[0] for line in read(self.notes).splitlines() if line.endswith(f" {text}")
        ]

    async def until(self, text: str, count: int, within_s: float = 10.0) -> list[str]:
        """The consumers that noted this, once there are so many."""
        await soon(lambda: len(self.seen(text)) >= count, within_s)
        return self.seen(text)


@asynccontextmanager
async def supervised(folder: Path, mode: str = "steady", count: int = 1) -> AsyncIterator[Watched]:
    notes = folder / "notes"

    def command(consumer: str, lifeline: int) -> list[str]:
        worker = str(HERE / "fake_worker.py")
        return [sys.executable, worker, mode, str(notes), consumer, str(lifeline)]

    async def on_death(stage: str, consumer: str, code: int) -> None:
        watched.deaths.append((stage, consumer, code))

    specs = [WorkerSpec("retrieve", count, as_command(command))]
    watched = Watched(Supervisor(specs, logs=folder / "logs", on_death=on_death), notes)
    async with watched.supervisor:
        await watched.supervisor.start()
        yield watched


async def test_a_killed_worker_is_reported_by_its_consumer_and_restarted(tmp_path: Path) -> None:
    """At once, under a new name, with what is left of the old one reported first."""
    async with supervised(tmp_path, count=2) as watched:
        await watched.until("started", 2)
        before = watched.supervisor.workers()
        victim = before[0]
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        await watched.until("started", 3)
        after = watched.supervisor.workers()
    assert watched.deaths == [("retrieve", victim.consumer, -signal.SIGKILL)]
    assert [worker.restarts for worker in after] == [1, 0]
    assert after[0].consumer != victim.consumer
    assert after[1] == before[1]


async def test_a_worker_that_keeps_dying_is_tried_again_ever_more_slowly(tmp_path: Path) -> None:
    """It is marked as failing, and never given up."""
    async with supervised(tmp_path, mode="broken") as watched:
        start = time.monotonic()
        await watched.until("started", 4)
        took = time.monotonic() - start
        assert watched.supervisor.workers()[0].failing
    assert took > 0.7  # 0 + 0.25 + 0.5
    assert {code for _, _, code in watched.deaths} == {9}


async def test_a_change_is_told_to_every_worker_and_each_may_have_another_name_since(
    tmp_path: Path,
) -> None:
    """So that a death is told under whichever name the process works by now."""
    async with supervised(tmp_path, count=2) as watched:
        consumers = await watched.until("started", 2)
        assert watched.supervisor.names_of("a") == ["a"]
        watched.supervisor.change()
        assert sorted(await watched.until("SIGHUP", 2)) == sorted(consumers)
        assert watched.supervisor.names_of("a") == ["a", successor_name("a", 1)]


async def test_a_report_that_fails_for_now_does_not_stop_the_restart(tmp_path: Path) -> None:
    """With the server away nobody can be told of a death; the worker comes back all the same."""
    async with supervised(tmp_path) as watched:

        async def away(stage: str, consumer: str, code: int) -> None:
            raise Unreachable("the server is away")

        watched.supervisor._on_death = away
        await watched.until("started", 1)
        pid = watched.supervisor.workers()[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await watched.until("started", 2)


async def test_stop_asks_first_and_kills_after_the_grace(tmp_path: Path) -> None:
    """SIGTERM, the grace, SIGKILL; nothing that was asked to stop is restarted."""
    async with supervised(tmp_path, mode="stubborn", count=2) as watched:
        await watched.until("started", 2)
        pids = [worker.pid for worker in watched.supervisor.workers()]
        await watched.supervisor.stop(grace_s=0.3)
        assert len(watched.seen("SIGTERM")) == 2
        assert not any(pid and is_running(pid) for pid in pids)
        assert [worker.pid for worker in watched.supervisor.workers()] == [None, None]
        await watched.supervisor.wait()
    assert watched.deaths == []


async def test_giving_up_waiting_leaves_the_workers_their_drain(tmp_path: Path) -> None:
    """Whoever waits and is cancelled cancels nothing else: stop still asks before it kills."""
    async with supervised(tmp_path) as watched:
        await watched.until("started", 1)
        waiting = asyncio.create_task(watched.supervisor.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await watched.supervisor.stop(grace_s=10.0)
        assert len(watched.seen("SIGTERM")) == 1


async def test_a_second_stop_without_grace_cuts_the_first_short(tmp_path: Path) -> None:
    """The second Ctrl-C leaves now."""
    async with supervised(tmp_path, mode="stubborn") as watched:
        await watched.until("started", 1)
        patient = asyncio.create_task(watched.supervisor.stop(grace_s=60.0))
        await watched.until("SIGTERM", 1)
        await watched.supervisor.stop(grace_s=0.0)
        async with asyncio.timeout(5):
            await patient


async def test_output_goes_to_one_private_log_per_place(tmp_path: Path) -> None:
    """A new start keeps the previous run's log as .1."""
    log, previous = (tmp_path / "logs" / f"retrieve-1.log{end}" for end in ("", ".1"))
    names = []
    for _ in range(2):
        async with supervised(tmp_path) as watched:
            await soon(lambda: "hello" in log.read_text())
            names.append(watched.supervisor.workers()[0].consumer)
    assert log.read_text() == f"hello from {names[1]}\n"
    assert previous.read_text() == f"hello from {names[0]}\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_a_command_that_does_not_exist_fails_the_start_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    """A wrong command is the caller's error, at the start."""

    async def on_death(stage: str, consumer: str, code: int) -> None:
        raise AssertionError

    specs = [
        WorkerSpec("understand", 1, as_command(lambda *_: ["sleep", "60"])),
        WorkerSpec("retrieve", 1, as_command(lambda *_: ["/nowhere/program"])),
    ]
    async with Supervisor(specs, logs=tmp_path, on_death=on_death) as supervisor:
        with pytest.raises(FileNotFoundError):
            await supervisor.start()
        pid = supervisor.workers()[0].pid
    assert pid is not None
    assert not is_running(pid)


def test_consumer_names_are_never_the_same_twice() -> None:
    """A new process never inherits the work of a dead one by accident."""
    names = {new_consumer_name() for _ in range(100)}
    assert len(names) == 100
    assert all(name.isascii() and ":" not in name and " " not in name for name in names)


def test_a_workers_command_names_stage_consumer_and_lifeline() -> None:
    """What groundwire.worker is started with; -P keeps the user's folder off its path."""
    command = worker_command("critic", "--concurrency", "4")("host-1", 7)
    another = worker_command("critic", program="groundwire.chaos.worker")("host-1", 7)
    assert another[3:5] == ("groundwire.chaos.worker", "critic")
    assert command[1:] == (
        *("-P", "-m", "groundwire.worker", "critic"),
        *("--consumer", "host-1", "--lifeline", "7", "--concurrency", "4"),
    )


def read(notes: Path) -> str:
    return notes.read_text() if notes.exists() else ""


@dataclass(frozen=True)
class System:
    """The processes of a running `supervising.py`."""

    workers: tuple[int, ...]
    server: int
    guard: int

    @classmethod
    def read(cls, line: str) -> "System":
        facts = json.loads(line)
        assert facts["owner"] is True
        return cls(tuple(facts["workers"]), facts["server"], facts["guard"])

    def left(self) -> list[int]:
        """Which of them still run."""
        return [pid for pid in (*self.workers, self.server, self.guard) if is_running(pid)]


@pytest.mark.server
def test_kill_9_of_the_supervisor_leaves_nothing_after_five_seconds(tmp_path: Path) -> None:
    """However it ends: workers see the lifeline's end, the guard ends the server."""
    with run_program("supervising.py", tmp_path) as owner:
        assert owner.stdout is not None
        system = System.read(owner.stdout.readline())
        assert system.left() == [*system.workers, system.server, system.guard]
        owner.kill()
        owner.wait()
        eventually(lambda: not system.left(), within_s=5.0)
    assert read(tmp_path / "notes").count(" EOF") == 2


@pytest.mark.server
def test_a_new_owner_right_after_a_kill_9_waits_for_the_old_server(tmp_path: Path) -> None:
    """Two servers never write one set of data, not even in the seconds after a kill."""
    with run_program("supervising.py", tmp_path) as first:
        assert first.stdout is not None
        old = System.read(first.stdout.readline())
        first.kill()
    with run_program("supervising.py", tmp_path) as second:
        assert second.stdout is not None
        new = System.read(second.stdout.readline())
        assert not old.left()
        second.send_signal(signal.SIGINT)
        second.wait()
    assert not new.left()


@pytest.mark.server
def test_ctrl_c_on_a_terminal_reaches_only_the_supervisor(tmp_path: Path) -> None:
    """Workers are asked to stop, not interrupted; the server is there until they are gone."""
    notes = tmp_path / "notes"
    terminal, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", AS_FOREGROUND, HERE / "supervising.py", tmp_path],
        env=environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as owner:
        os.close(theirs)
        assert owner.stdout is not None
        system = System.read(owner.stdout.readline())
        eventually(lambda: read(notes).count(" started") == 2)
        os.write(terminal, b"\x03")
        end = json.loads(owner.stdout.readline())
        assert owner.wait(10) == 0
    os.close(terminal)
    assert end == {"server_when_workers_were_gone": system.server}
    assert not system.left()
    assert read(notes).count(" SIGTERM") == 2
    assert "SIGINT" not in read(notes)


AS_FOREGROUND = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
