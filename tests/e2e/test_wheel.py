"""The wheel, as it would be published: built, installed into a fresh venv, asked from another folder."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from .machine import HANDBOOK, ROOT, Home

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

WHERE = """
import json, agents, bus, contracts, groundwire
print(json.dumps([module.__file__ for module in (agents, bus, contracts, groundwire)]))
"""


SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a program to its end in a folder, free of this process's import path; its output."""
    cut = {"PYTHONPATH", "VIRTUAL_ENV"}
    env = {name: value for name, value in Home(folder).environment.items() if name not in cut}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed_by(name: str) -> set[str]:
    """The distributions that one declares, and that those declare: no more than pip would install."""
    found: set[str] = set()
    todo = [(name, "")]
    while todo:
        requirer, extra = todo.pop()
        for line in metadata.requires(requirer) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                todo += [
                    (needed.name, one) for one in ("", *needed.extras) if needed.name not in found
                ]
                found.add(needed.name)
    return found


def lend(distribution: str, site: Path) -> None:
    """Link what a distribution installed into another site-packages."""
    installed = metadata.distribution(distribution)
    names = {file.parts[0] for file in installed.files or [] if file.parts[0] != ".."}
    for name in names - {"__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(str(installed.locate_file(name))))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.glob("groundwire-*.whl")
    return built


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with the wheel in it. What it declares to need is lent from here, without a network."""
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    python = venv / "bin" / "python"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    without_pip = ["--without-pip"] if uv else []
    run([sys.executable, "-m", "venv", *without_pip, venv], venv.parent)
    install: list[str | Path] = [python, "-m", "pip", "install"]
    if uv:
        install = [uv, "pip", "install", "--python", python]
    run([*install, "--no-deps", "--no-index", wheel], venv.parent)
    site = Path(run([python, "-c", SITE], venv.parent).strip())
    for dependency in needed_by("groundwire"):
        lend(dependency, site)
    return venv


def test_the_four_packages_come_from_the_wheel(fresh: Path, tmp_path: Path) -> None:
    """Nothing of this checkout is imported: what is tested is what is shipped."""
    files = json.loads(run([fresh / "bin" / "python", "-c", WHERE], tmp_path))
    assert len(files) == 4
    for file in files:
        assert Path(file).is_relative_to(fresh), file


def test_the_wheel_answers_from_another_folder(fresh: Path, tmp_path: Path) -> None:
    """`groundwire ask` with documents of one's own: server, agents, scripts, profiles are all aboard."""
    shutil.copytree(HANDBOOK, tmp_path / "docs")
    question = "Can I get a refund on an annual plan?"
    script = fresh / "bin" / "groundwire"
    command: list[str | Path] = [script, "ask", "--docs", "docs", "--json", question]
    response = json.loads(run(command, tmp_path))
    assert response["status"] == "approved"
    assert response["segments"][0]["source"] == "refunds.md"
    assert os.listdir(tmp_path) == ["docs"], "a private system leaves nothing behind"
