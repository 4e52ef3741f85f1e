"""The command line in this process, in a folder of its own, with a system or without."""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from e2e.machine import HANDBOOK, Home, running_up

from groundwire.cli.app import run


@dataclass(frozen=True)
class Done:
    """A command's exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Commands:
    """Runs command lines in a home's folder, in this process."""

    def __init__(
        self, home: Home, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]
    ) -> None:
        self.home = home
        self._patch = patch
        self._captured = captured
        for name in [name for name in os.environ if name not in home.environment]:
            patch.delenv(name)
        for name, value in home.environment.items():
            if name.startswith("GROUNDWIRE_"):
                patch.setenv(name, value)
        patch.setenv("COLUMNS", "200")
        patch.chdir(home.folder)

    def set(self, variable: str, value: str) -> None:
        """Set a variable of the environment for the commands to come."""
        self._patch.setenv(variable, value)

    def unset(self, variable: str) -> None:
        """Take a variable out of the environment."""
        self._patch.delenv(variable)

    def __call__(self, *words: object, stdin: str = "") -> Done:
        """Run `groundwire WORDS…` to its end."""
        self._captured.readouterr()
        self._patch.setattr("sys.stdin", io.StringIO(stdin))
        code = run([str(word) for word in words])
        out, err = self._captured.readouterr()
        return Done(int(code), out, err)


@pytest.fixture(scope="package")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """`groundwire up` on the handbook, for the tests of the commands."""
    home = Home(tmp_path_factory.mktemp("handbook"))
    with running_up(home, "--docs", HANDBOOK):
        yield home


@pytest.fixture
def groundwire(
    handbook: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Commands in a folder where the system runs."""
    return Commands(handbook, monkeypatch, capsys)


@pytest.fixture
def nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Commands in an empty folder where nothing runs."""
    return Commands(Home(tmp_path), monkeypatch, capsys)
