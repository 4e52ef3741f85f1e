"""The command `chaos`: how it ends, what it lists, what it refuses."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.machine import descendants, eventually

from groundwire.chaos.faults import FAULTS
from groundwire.cli.app import run
from groundwire.embedded.process import is_running

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

COMMAND = "from groundwire.cli import main; main()"
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_nothing_is_left_behind_however_it_ends(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Neither a process, frozen ones included, nor a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "chaos", "--faults", "freeze", "--minutes", "5"],
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    family: set[int] = set()

    def one_is_frozen() -> bool:
        family.update(descendants(process.pid))
        return any(state.startswith("T") for state in _states(family))

    try:
        eventually(one_is_frozen, "a frozen worker", 90, every_s=0.1)
        process.send_signal(number)
        assert process.wait(timeout=60) == code
    finally:
        process.kill()
    eventually(lambda: not any(map(is_running, family)), f"the end of {family}", 15)
    eventually(lambda: not any(tmp_path.iterdir()), "an empty folder", 15)


def _states(pids: set[int]) -> list[str]:
    """How these processes are: `T` is frozen."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,stat="], capture_output=True, text=True, check=True
    )
    return [state for pid, state in map(str.split, listed.stdout.splitlines()) if int(pid) in pids]


def test_faults_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chaos", "--list"]) == 0
    listed = capsys.readouterr().out
    for fault in FAULTS.values():
        assert fault.name in listed


@pytest.mark.parametrize("wrong", [("--faults", "quake"), ("--seeds", "9-1"), ("--seeds", "a")])
def test_what_makes_no_sense_is_refused(wrong: tuple[str, str]) -> None:
    assert run(["chaos", *wrong]) == 2
