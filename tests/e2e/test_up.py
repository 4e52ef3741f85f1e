"""How `groundwire up` begins and ends: killed, interrupted on a terminal, started twice."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pytest

from groundwire.embedded.process import is_running
from groundwire.nursery import CAN_FORK

from .machine import (
    HANDBOOK,
    SCRIPT,
    STAGES,
    START_S,
    Home,
    asked,
    await_up,
    descendants,
    end,
    eventually,
    is_settled,
    query,
    results_so_far,
    running_up,
    soon,
)

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

GONE_S = 5.0
"""The promise: however the supervisor ends, nothing is left after so many seconds."""
FAMILY = 8 if CAN_FORK else 7
"""Five workers, the nursery that they are forked from, the server and its guard."""


def assert_gone(family: set[int], within_s: float = GONE_S) -> None:
    """None of the processes is left in time."""
    assert len(family) >= FAMILY
    eventually(lambda: not any(map(is_running, family)), "all processes are gone", within_s)


async def test_nothing_is_left_of_a_killed_up_and_the_next_one_finishes_its_work(
    home: Home,
) -> None:
    """Kill -9 with queries in flight: server, guard and workers end; the stale lock and state mean nothing."""
    process = home.start("up", "--docs", HANDBOOK)
    try:
        await_up(home, process)
        family = descendants(process.pid)
        async with home.connect() as bus:
            due = await bus.submit_many([query("How do I cancel my plan?") for _ in range(100)])
    finally:
        process.kill()
        process.wait()
    assert_gone(family)
    assert home.owner() == process.pid, "the state file is stale, not gone: that's what is tested"
    assert home.run("status").returncode == 3
    with running_up(home):
        async with home.connect() as bus:
            _, results = await results_so_far(bus, "0", len(due))
            await soon(lambda: is_settled(bus), "no query is open")
            assert (await bus.verify())[0].holds
    assert Counter(result.query_id for result in results) == Counter(due)
    assert {result.status for result in results} == {"approved"}


def name_of(pid: int) -> str:
    """What `ps -o comm` shows of a process."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


@pytest.mark.skipif(not CAN_FORK, reason="no process is forked from another one here")
async def test_a_killed_nursery_takes_its_workers_along_and_both_come_back(home: Home) -> None:
    """It is all workers' parent: whoever supervises them sees all of them end, and has all of them born again."""
    with running_up(home, "--docs", HANDBOOK) as process:
        before = descendants(process.pid)
        [nursery] = [one for one in before if name_of(one) == "gw-nursery"]
        assert len(os.listdir(f"/proc/{nursery}/task")) == 1, (
            "a lock of another thread stays locked in a fork"
        )
        async with home.connect() as bus:
            os.kill(nursery, signal.SIGKILL)
            due = await bus.submit_many([query("How do I cancel my plan?") for _ in range(20)])
            _, results = await results_so_far(bus, "0", len(due))
            await soon(lambda: is_settled(bus), "no query is open")
            assert (await bus.verify())[0].holds
        old = before - descendants(process.pid)
        eventually(lambda: not any(map(is_running, old)), "the old workers are gone", GONE_S)
        assert len(old) == len(STAGES) + 1
        assert len(descendants(process.pid)) == FAMILY
    assert Counter(result.query_id for result in results) == Counter(due)


async def test_vectors_follow_while_the_corpus_answers(tmp_path: Path) -> None:
    """`up` is ready before they are made; the workers move on to the version that has them by themselves."""
    home = Home(tmp_path, (("GROUNDWIRE_PROFILE", "fast"),))
    with running_up(home, "--docs", HANDBOOK):
        corpus = home.path / "corpus"

        def history() -> list[str]:
            return (corpus / "history.jsonl").read_text().splitlines()

        eventually(lambda: len(history()) == 2, "vectors", 60.0)
        versions = [json.loads(line)["version"] for line in history()]
        by_words, by_both = (
            json.loads((corpus / "snapshots" / version / "manifest.json").read_text())
            for version in versions
        )
        async with home.connect() as bus:
            result = await asked(bus, "How do I cancel my plan?")
    assert set(by_words["parts"]) == {"keyword"}
    assert set(by_both["parts"]) == {"keyword", "vectors"}
    assert result.status == "approved"


@contextmanager
def up_on_a_terminal(home: Home) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """`groundwire up` with a pty of its own as its terminal, and the other end of that."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [SCRIPT, "up", "--docs", HANDBOOK],
            cwd=home.folder,
            env=home.environment | {"TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        os.set_blocking(ours, False)
        try:
            yield process, ours
        finally:
            end(process)
    finally:
        os.close(ours)


def read_all(terminal: int) -> str:
    """What has been written to a terminal; its end is an error on Linux."""
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError:
        pass
    return text.decode(errors="replace")


async def test_ctrl_c_on_a_terminal_drains_the_workers_and_stops_the_server_last(
    home: Home,
) -> None:
    """With queries in flight: every worker leaves in order while the server still answers."""
    said = ""
    with up_on_a_terminal(home) as (process, terminal):

        def is_up() -> bool:
            nonlocal said
            said += read_all(terminal)
            return home.owner() == process.pid and "Ctrl-C" in said

        eventually(is_up, "up on a terminal", START_S)
        family = descendants(process.pid)
        async with home.connect() as bus:
            await bus.submit_many([query("How do I cancel my plan?") for _ in range(100)])
        os.write(terminal, b"\x03")

        def has_ended() -> bool:
            nonlocal said
            said += read_all(terminal)
            return process.poll() is not None

        eventually(has_ended, "the end", 20.0)
        assert process.returncode in {0, 130}
        assert_gone(family)
    assert "draining the workers" in said
    assert "Traceback" not in said
    logs = home.logs()
    for stage in STAGES:
        log = logs[f"{stage}-1.log"]
        assert log.count('"worker.left"') == 1, log
        assert "failed" not in log
        assert "drain.cut" not in log
    assert "Traceback" not in "".join(logs.values())
    assert home.owner() is None


async def test_of_two_ups_at_once_one_owns_the_system_and_the_other_shares_it(home: Home) -> None:
    """One lock, one server: the second waits until it is ready, says whose it is, and exits 0."""
    processes = [home.start("up", "--docs", HANDBOOK, log=f"up-{n}.log") for n in range(2)]
    try:
        eventually(lambda: any(p.poll() is not None for p in processes), "one shares", START_S)
        [sharer] = [n for n, process in enumerate(processes) if process.poll() is not None]
        owner = processes[1 - sharer]
        assert processes[sharer].returncode == 0
        assert f"already up in {home.path} (process {owner.pid})" in "".join(
            home.said(f"up-{sharer}.log").splitlines()
        )
        await soon_up(home)
        family = descendants(owner.pid)
        assert len(family) == FAMILY
        owner.send_signal(signal.SIGTERM)
        assert owner.wait(20.0) == 0
        assert_gone(family)
    finally:
        for process in processes:
            end(process)


async def soon_up(home: Home) -> None:
    """A client finds the system and its five stages."""
    async with home.connect() as bus:
        assert (await bus.status()).idle_stages == ()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_nothing_is_left_of_a_private_system_whose_ask_is_ended(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Interrupted or killed while its system starts: no process, no temporary folder."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = Home(tmp_path, (("TMPDIR", str(temporary)),))
    process = home.start("ask", "--docs", HANDBOOK, "Can I get a refund?")
    try:
        eventually(
            lambda: len(descendants(process.pid)) >= FAMILY or process.poll() is not None,
            "the private system",
            START_S,
        )
        family = descendants(process.pid)
        process.send_signal(number)
        assert process.wait(20.0) == code, home.said()
    finally:
        end(process)
    assert_gone(family)
    eventually(lambda: not list(temporary.iterdir()), "the folder is removed", GONE_S)
    assert "Traceback" not in home.said()


def test_a_stranger_s_lock_and_state_of_a_dead_owner_are_no_system(home: Home) -> None:
    """Files alone are nothing: commands say that nothing is running, and what to start."""
    home.path.mkdir()
    (home.path / "lock").touch()
    (home.path / "system.json").write_text('{"url": "unix:///gone", "pid": 1}')
    done = home.run("status")
    assert done.returncode == 3
    assert "groundwire up" in done.stderr


def test_a_worker_whose_supervisor_is_gone_ends_even_while_it_still_starts(home: Home) -> None:
    """A machine so slow that imports take longer than the promise: the pipe is watched before them."""
    (home.folder / "structlog.py").write_text("import time\ntime.sleep(60)\n")
    ours, theirs = os.pipe()
    command = [sys.executable, "-P", "-m", "groundwire.worker", "critic", "--lifeline", str(ours)]
    path = os.pathsep.join([str(home.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command,
        cwd=home.folder,
        env=home.environment | {"PYTHONPATH": path},
        pass_fds=[ours],
    )
    os.close(ours)
    os.close(theirs)
    try:
        process.wait(GONE_S)
    finally:
        process.kill()
        process.wait()
