"""Goes through README.md as a reader would: one folder, one system, every block in order.

The system is the one of `make run`. Four things are other than on the page, all of them here: the commands
of THIS_RUN are not run, `redis-cli` is redis_cli.py, a server of the reader's own is the tests' server, and what
was embedded and learned of the handbook before is found: who reads takes longer than `make run` to do that.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .blocks import Block, Command, blocks, commands
from .repository import BIN, ROOT, environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
THIS_RUN = ("make test",)
"""What this very run is part of."""
OWN_SERVER = "redis://localhost:6379/0"
UP = "Ctrl-C stops it"
LIMIT_S = 120.0
_END = "--- end of a command:"


@dataclass(frozen=True)
class Printed:
    """A command or program of the page, what it should print, what it printed, how it ended."""

    name: str
    shown: str | None
    output: str
    code: int
    errors: str
    code_is_shown: bool = False


def go(own_server: str, ingested: Path) -> dict[str, Printed]:
    """Run every block; by the command, or by the line that the program stands at."""
    folder = Path(tempfile.mkdtemp(prefix="gw-"))
    try:
        shutil.copytree(ROOT / "examples", folder / "examples")
        _lay_redis_cli(folder)
        _lay_caches(folder, ingested)
        return {one.name: one for one in _go(folder, own_server)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def names() -> list[str]:
    """The names of everything that `go` runs, in order."""
    found: list[str] = []
    for block in blocks(README):
        if block.language == "console":
            found += [one.line for one in commands(block) if one.line not in THIS_RUN]
        elif block.language == "python":
            found.append(f"python, {block}")
    return found


def _commands() -> list[tuple[Block, Command]]:
    consoles = [block for block in blocks(README) if block.language == "console"]
    return [(block, command) for block in consoles for command in commands(block)]


def recipe(target: str) -> str:
    """The last command of a target of the Makefile."""
    lines = subprocess.run(
        ["make", "--no-print-directory", "-n", target],
        cwd=ROOT,
        env=environment(),
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return lines[-1].replace(".venv/bin", str(BIN))


def _go(folder: Path, own_server: str) -> Iterator[Printed]:
    with _made_run(folder) as first:
        yield first
        for block in blocks(README):
            if block.language == "console":
                yield from _console(block, folder, own_server)
            elif block.language == "python":
                yield _program(block, folder)


@contextmanager
def _made_run(folder: Path) -> Iterator[Printed]:
    """`make run`, up until the end of the block."""
    (shown,) = (one for _, one in _commands() if one.line == "make run")
    output, errors = folder / "up.out", folder / "up.err"
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            ["bash", "-c", recipe("run")],
            cwd=folder,
            env=_environment(folder),
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + LIMIT_S
        while UP not in errors.read_text() and process.poll() is None:
            assert time.monotonic() < deadline, errors.read_text()
            time.sleep(0.05)
        code = process.poll() or 0
        yield Printed(shown.line, shown.shown, output.read_text(), code, errors.read_text())
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=LIMIT_S)
        finally:
            process.kill()


def _console(block: Block, folder: Path, own_server: str) -> Iterator[Printed]:
    """Each command of a block, all in one shell: what it exports stays, and so does `$?`."""
    todo = [one for one in commands(block) if one.line not in (*THIS_RUN, "make run")]
    lines = []
    for one in todo:
        line = one.line.replace(OWN_SERVER, f"'{own_server}'")
        lines.append(f'{line}\ncode=$?; echo "{_END} $code"; echo "{_END}" >&2; (exit $code)')
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    outputs = re.split(rf"{_END} (\d+)\n", done.stdout)
    errors = done.stderr.split(f"{_END}\n")
    for number, one in enumerate(todo):
        output, code = outputs[2 * number], int(outputs[2 * number + 1])
        yield _printed(one, output, code, errors[number])


def _printed(command: Command, output: str, code: int, errors: str) -> Printed:
    shows_code = "$?" in command.line
    return Printed(command.line, command.shown, output, code, errors, shows_code)


def _program(block: Block, folder: Path) -> Printed:
    """A Python block: as a test if it has tests, else as a program."""
    file = folder / f"test_line_{block.line}.py"
    file.write_text(block.text, encoding="utf-8")
    is_test = re.search(r"^(async )?def test_", block.text, re.MULTILINE) is not None
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    done = subprocess.run(
        [sys.executable, *(pytest if is_test else []), file.name],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return Printed(f"python, {block}", block.shown, done.stdout, done.returncode, done.stderr)


def _environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join([str(folder / "bin"), environment()["PATH"]])
    return environment(PATH=path)


def _lay_caches(folder: Path, ingested: Path) -> None:
    """Vectors and a classifier, and nothing of the corpus that they are of."""
    root = folder / ".groundwire" / "corpus"
    root.mkdir(mode=0o700, parents=True)
    shutil.copytree(ingested / "classifiers", root / "classifiers")
    for cache in ingested.glob("*.sqlite"):
        shutil.copy(cache, root)


def _lay_redis_cli(folder: Path) -> None:
    script = folder / "bin" / "redis-cli"
    script.parent.mkdir()
    program = Path(__file__).with_name("redis_cli.py")
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
    script.chmod(0o755)
