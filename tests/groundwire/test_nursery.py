import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from processes import environment, soon

from groundwire.embedded.process import is_running
from groundwire.nursery import CAN_FORK, LOST_CODE, Nursery

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="no process is forked from another one here")

WORKER = ("critic", "--consumer", "host-1")


@asynccontextmanager
async def nursery_in(folder: Path, program: str = "groundwire.worker") -> AsyncIterator[Nursery]:
    """A nursery; the workers of groundwire.worker wait for documents for ever."""
    env = environment(
        GROUNDWIRE_HOME=str(folder / "home"),
        GROUNDWIRE_REDIS_URL="redis://127.0.0.1:1",
        GROUNDWIRE_PROFILE="reference",
    )
    nursery = Nursery(folder / "nursery.log", env, program=program)
    try:
        yield nursery
    finally:
        await nursery.close()


def told_of(pid: int, name: str) -> str:
    """What the kernel says of a process."""
    return Path(f"/proc/{pid}/{name}").read_text()


async def test_a_child_is_a_worker_with_a_log_a_group_and_a_name_of_its_own(tmp_path: Path) -> None:
    """To whoever supervises it, and whoever looks at the machine, as if it had been started by a command."""
    async with nursery_in(tmp_path) as nursery:
        log = tmp_path / "critic.log"
        child = await nursery.bear(WORKER, log)
        await soon(lambda: log.exists() and "corpus.waiting" in log.read_text())
        assert os.getpgid(child.pid) == child.pid
        assert told_of(child.pid, "comm") == "gw-critic\n"
        child.send_signal(signal.SIGTERM)
        assert await child.wait() == 0
        child.send_signal(signal.SIGTERM)  # nothing to signal any more


async def test_every_death_is_told_by_its_code(tmp_path: Path) -> None:
    """Killed, or ended by itself with what it wrote in its log."""
    async with nursery_in(tmp_path) as nursery:
        log = tmp_path / "wrong.log"
        killed, wrong = await asyncio.gather(
            nursery.bear(WORKER, tmp_path / "critic.log"), nursery.bear(("critic", "--huh"), log)
        )
        assert await wrong.wait() == 2
        assert "--huh" in log.read_text()
        os.kill(killed.pid, signal.SIGKILL)
        assert await killed.wait() == -signal.SIGKILL


async def test_children_are_workers_of_the_nursery_s_program(tmp_path: Path) -> None:
    """Also of one that has nothing to preload: here it says what it lacks."""
    async with nursery_in(tmp_path, "groundwire.chaos.worker") as nursery:
        log = tmp_path / "critic.log"
        assert await (await nursery.bear(WORKER, log)).wait() == 2
    assert "python -m groundwire.chaos.worker: error:" in log.read_text()
    assert "--brief" in log.read_text()


async def test_children_end_with_their_nursery_and_the_next_birth_has_a_new_one(
    tmp_path: Path,
) -> None:
    """A killed nursery can't tell of its children: they are taken for dead, and do end."""
    async with nursery_in(tmp_path) as nursery:
        child = await nursery.bear(WORKER, tmp_path / "critic.log")
        parent = int(told_of(child.pid, "stat").rpartition(")")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
        assert await child.wait() == LOST_CODE
        await soon(lambda: not is_running(child.pid), 5.0)
        again = await nursery.bear(WORKER, tmp_path / "critic.log")
        assert is_running(again.pid)
    await soon(lambda: not is_running(again.pid), 5.0)


async def test_a_nursery_that_cannot_start_fails_the_birth_and_names_its_log(
    tmp_path: Path,
) -> None:
    """An error to act on, not a wait."""
    nursery = Nursery(tmp_path / "nursery.log", environment(GROUNDWIRE_NONSENSE="1"))
    try:
        with pytest.raises(OSError, match=r"nursery\.log"):
            await nursery.bear(WORKER, tmp_path / "critic.log")
    finally:
        await nursery.close()
    assert "GROUNDWIRE_NONSENSE" in (tmp_path / "nursery.log").read_text()
