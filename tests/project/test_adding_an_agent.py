"""docs/adding-an-agent.md, done: a sixth agent in a copy of the project."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .repository import ROOT, environment

GUIDE = (ROOT / "docs" / "adding-an-agent.md").read_text(encoding="utf-8")
COPIED = ("agents", "bus", "contracts", "groundwire", "tests", "docs", "examples")
FILES = ("docker-compose.yml", "Dockerfile", "Makefile", "pyproject.toml")
_STEP = re.compile(r"(?:A new file,|In) `([^`]+)`:\n\n```(\w+)\n(.*?)```", re.DOTALL)
TESTS = (
    "tests/agents/test_tone.py",
    "tests/project/test_asyncapi.py",
    "tests/project/test_compose.py",
    "tests/project/test_metrics.py",
)


def changed(text: str, hunk: str) -> str:
    """A text in which the context and the lines that go, found once, are the context and the lines that come."""
    lines = hunk.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -").removesuffix("\n")
    new = "".join(line[1:] for line in lines if line[0] in " +").removesuffix("\n")
    assert text.count(old) == 1, f"not once: {old}"
    return text.replace(old, new)


def follow(guide: str, folder: Path) -> None:
    """Make the files that the guide makes, change those that it changes."""
    for name, language, block in _STEP.findall(guide):
        path = folder / name
        text = block
        if language == "diff":
            text = path.read_text(encoding="utf-8")
            for hunk in block.split("@@\n"):
                text = changed(text, hunk)
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, with everything done that the guide says."""
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    follow(GUIDE, folder)
    return folder


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A module of the copy."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment(PYTHONPATH=str(folder)),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_whoever_follows_the_guide_has_a_sixth_agent(copy: Path) -> None:
    """The new stage's own test passes, its channel and service are there, and a question goes through all six."""
    drawn = run(copy, "groundwire", "asyncapi")
    assert '"gw:{lane}:toned"' in drawn.stdout, drawn.stderr
    (copy / "docs" / "asyncapi.json").write_text(drawn.stdout, encoding="utf-8")
    chosen = "tone or asyncapi or service"
    done = run(copy, "pytest", "-q", "-m", "not server", "-k", chosen, *TESTS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
