"""What the process tests share: waiting for a condition, and programs started the way users do."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


def eventually(condition: Callable[[], object], within_s: float = 10.0) -> None:
    """Return once the condition holds; fail when it doesn't in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not so within {within_s:g} s"
        time.sleep(0.01)


async def soon(condition: Callable[[], object], within_s: float = 10.0) -> None:
    """The same without holding up the loop."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - other processes set no Event of ours
            await asyncio.sleep(0.01)


def environment(**extra: str) -> dict[str, str]:
    """This process's environment without Groundwire's variables, with this checkout importable."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDWIRE_")}
    return kept | {"PYTHONPATH": str(ROOT)} | extra


def run_program(name: str, *arguments: object) -> "subprocess.Popen[str]":
    """One of the programs beside this file; its first line says that it is ready."""
    return subprocess.Popen(
        [sys.executable, HERE / name, *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
