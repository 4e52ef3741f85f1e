import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment, eventually

from contracts.errors import Misconfigured, NoSystem
from groundwire.embedded import SystemLock, SystemState, find_system

HOLD = """
import asyncio, sys
from pathlib import Path
from groundwire.embedded import SystemLock, SystemState

async def main():
    lock = await SystemLock.acquire(Path(sys.argv[1]))
    if lock is not None and len(sys.argv) > 2:
        lock.publish(SystemState("redis://127.0.0.1:1/0"))
    sys.stdout.write("owner\\n" if lock else "other\\n")
    sys.stdout.flush()
    sys.stdin.read()

asyncio.run(main())
"""


def hold(home: Path, *publish: str) -> "subprocess.Popen[str]":
    """A process that takes the lock if it can, says so, and keeps it until its stdin ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home), *publish],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def test_of_many_starters_exactly_one_owns_the_home(tmp_path: Path) -> None:
    """Commands started at once agree on one owner."""
    starters = [hold(tmp_path) for _ in range(4)]
    answers = [said(starter) for starter in starters]
    for starter in starters:
        starter.communicate()
    assert sorted(answers) == ["other", "other", "other", "owner"]


async def test_looking_for_a_system_never_keeps_an_owner_out(tmp_path: Path) -> None:
    """Whoever only looks takes no part in the race for the lock."""
    (tmp_path / "lock").touch()

    async def look() -> None:
        for _ in range(200):
            await find_system(tmp_path, wait_s=5.0)

    async def own() -> None:
        for _ in range(50):
            lock = await SystemLock.acquire(tmp_path)
            assert lock is not None
            lock.publish(SystemState("redis://127.0.0.1:1/0"))
            await asyncio.sleep(0)
            lock.release()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(own())
        for _ in range(4):
            tasks.create_task(look())


async def test_a_killed_owner_leaves_no_lock_and_no_system(tmp_path: Path) -> None:
    """The lock ends with its process, and the state file it left behind means nothing."""
    owner = hold(tmp_path, "publish")
    assert said(owner) == "owner"
    assert await find_system(tmp_path) is not None
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    assert (tmp_path / "system.json").exists()
    assert await find_system(tmp_path) is None
    with await SystemLock.acquire(tmp_path) or pytest.fail("a dead process holds the lock"):
        assert not (tmp_path / "system.json").exists()


async def test_a_state_file_without_an_owner_is_no_system(tmp_path: Path) -> None:
    """A stale file is recognised even when its process number lives on in someone else."""
    state = {"url": "redis://127.0.0.1:1/0", "pid": os.getpid()}
    (tmp_path / "system.json").write_text(json.dumps(state))
    assert await find_system(tmp_path) is None
    (tmp_path / "lock").touch()
    assert await find_system(tmp_path) is None


async def test_a_home_that_never_was_is_no_system_and_stays_absent(tmp_path: Path) -> None:
    """Asking creates nothing."""
    assert await find_system(tmp_path / "home") is None
    assert not (tmp_path / "home").exists()


async def test_a_starting_system_is_waited_for(tmp_path: Path) -> None:
    """A command that comes too early finds the system once it is ready."""
    lock = await SystemLock.acquire(tmp_path)
    assert lock is not None
    with lock:
        looking = asyncio.create_task(find_system(tmp_path))
        await asyncio.sleep(0)
        assert not looking.done()
        (tmp_path / "url").write_text("redis://:pw@127.0.0.1:1/0\n")
        state = SystemState(
            "redis://127.0.0.1:1/0", url_file=str(tmp_path / "url"), workers={"critic": 2}
        )
        lock.publish(state)
        running = await looking
    assert running is not None
    assert running.url == "redis://:pw@127.0.0.1:1/0"
    assert running.state == state


async def test_a_system_that_never_gets_ready_is_reported(tmp_path: Path) -> None:
    """The wait has a limit, and its error says where to look."""
    lock = await SystemLock.acquire(tmp_path)
    assert lock is not None
    with lock, pytest.raises(NoSystem, match=r"isn't ready after 0\.05 s: see .*server\.log"):
        await find_system(tmp_path, wait_s=0.05)


async def test_a_state_file_of_another_version_says_so(tmp_path: Path) -> None:
    """An unreadable state is an error with a remedy, and no traceback of ours."""
    lock = await SystemLock.acquire(tmp_path)
    assert lock is not None
    with lock:
        (tmp_path / "system.json").write_text('{"url": "redis://", "colour": "red"}')
        with pytest.raises(Misconfigured, match="another version"):
            await find_system(tmp_path)


async def test_the_state_file_holds_no_password_and_is_private(tmp_path: Path) -> None:
    """0600, like everything that tells where the system is."""
    lock = await SystemLock.acquire(tmp_path)
    assert lock is not None
    with lock:
        lock.publish(SystemState("redis://127.0.0.1:1/0"))
        mode = (tmp_path / "system.json").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
    eventually(lambda: not (tmp_path / "system.json").exists())
