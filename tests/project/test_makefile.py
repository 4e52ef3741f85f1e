"""`make run`, `make test` and .ci/run, without running them: this is what they run."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from .repository import ROOT, environment

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
GATES = (
    "ruff format --check .",
    "ruff check .",
    "mypy",
    "lint-imports",
    "pytest",
)


def _make(*arguments: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_make_test_runs_every_gate_in_order() -> None:
    """`make test` checks format, lint, types and imports, and then runs the tests."""
    lines = _make("-n", "test").stdout.splitlines()
    ran = [line.removeprefix(".venv/bin/") for line in lines if line.startswith(".venv/bin/")]
    gates = [next((gate for gate in GATES if line.startswith(gate)), line) for line in ran]
    assert gates[-len(GATES) :] == list(GATES)


def test_make_run_leaves_ctrl_c_to_groundwire() -> None:
    """`make run` becomes `groundwire up` by exec, so that Ctrl-C reaches it and not a shell."""
    last = _make("-n", "run").stdout.splitlines()[-1]
    assert last.startswith("exec .venv/bin/groundwire up --docs examples/handbook --ask ")


@pytest.mark.parametrize("target", re.findall(r"^([a-z]+):.*##", MAKEFILE, re.MULTILINE))
def test_every_target_is_in_the_help(target: str) -> None:
    """`make help` lists each target that has a description."""
    assert re.search(rf"^  make {target} +\S", _make("help").stdout, re.MULTILINE)


def test_ci_runs_make_test() -> None:
    """.ci/run is executable, strict, and runs `make test` with no terminal."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail\n" in text
    assert text.endswith("exec make test </dev/null\n")


def _python(folder: Path, name: str, version: str, *, has_venv: bool) -> Path:
    """A program that looks like Python to the Makefile."""
    old = tuple(int(part) for part in version.split(".")) < (3, 11)
    script = folder / name
    script.write_text(
        "#!/bin/sh\n"
        'case "$2" in\n'
        f"  *print*) echo {version} ;;\n"
        f"  *ensurepip*) exit {int(not has_venv)} ;;\n"
        f"  *version_info*) exit {int(old)} ;;\n"
        "esac\n"
    )
    script.chmod(0o755)
    return script


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with the Makefile and no .venv."""
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def test_a_missing_venv_module_is_named(bare: Path) -> None:
    """A Python without venv: the message names the package to install, and nothing is left behind."""
    python = _python(bare, "python-bare", "3.12", has_venv=False)
    done = _make("install", f"PYTHONS={python}", folder=bare)
    assert done.returncode != 0
    assert "apt install python3.12-venv" in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert not (bare / ".venv").exists()


def test_a_python_too_old_is_named(bare: Path) -> None:
    """A Python 3.9 alone: the message says what was found, what is needed, and how to get it."""
    python = _python(bare, "python-old", "3.9", has_venv=True)
    done = _make("install", f"PYTHONS=no-such-python {python}", folder=bare)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer; found: 3.9" in done.stderr
    assert "apt install python3 python3-venv" in done.stderr


def test_what_is_installed_already_is_left_alone(bare: Path) -> None:
    """Nothing is synced again until pyproject.toml or uv.lock changes."""
    (bare / ".venv").mkdir()
    version = re.search(r"^UV_VERSION := (\S+)$", MAKEFILE, re.MULTILINE)
    assert version
    (bare / ".venv" / f".uv-{version[1]}").touch()
    (bare / ".venv" / ".synced").touch()
    assert _make("-q", "install", folder=bare).returncode == 0
    os.utime(bare / "uv.lock", (2e9, 2e9))
    assert _make("-q", "install", folder=bare).returncode == 1
