"""Another owner of our import names in the environment: a start-up error that names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .machine import SCRIPT, Home


def stranger(folder: Path, name: str) -> Path:
    """What `pip install` of a package with this import name leaves behind."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported the stranger')\n")
    record = folder / f"stranger_{name}-3.2.1.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text(f"{name}/__init__.py,,\n{record.parent.name}/RECORD,,\n")
    return folder


@pytest.mark.parametrize("name", ["agents", "bus", "contracts"])
@pytest.mark.parametrize(
    "command", [[SCRIPT, "status"], [sys.executable, "-P", "-m", "groundwire.worker", "critic"]]
)
def test_a_stranger_that_owns_one_of_our_names_is_named_at_the_start(
    home: Home, name: str, command: list[str | Path]
) -> None:
    """Before anything of the stranger's runs: exit code 2, who it is, what to do."""
    site = stranger(home.folder / "site", name)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command,
        cwd=home.folder,
        env=home.environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"stranger-{name}" in done.stderr
    assert "pip uninstall" in done.stderr
    assert "Traceback" not in done.stderr
