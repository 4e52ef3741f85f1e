"""The checkout as these tests see it: its files, its programs, an environment without our variables."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def environment(**extra: str) -> dict[str, str]:
    """This process's environment: our programs on PATH, no setting of ours, nothing of make's."""
    strange = ("GROUNDWIRE_", "MAKE", "MFLAGS", "PYTEST_", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
    kept.pop("PYTHON", None)  # as in `make test PYTHON=…`
    path = os.pathsep.join([str(BIN), kept.get("PATH", os.defpath)])
    return kept | {"PATH": path, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"} | extra


def files(*patterns: str) -> list[Path]:
    """The files of the project that match, those not yet committed included; nothing ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    named = dict.fromkeys(ROOT / line for line in listing.stdout.splitlines())
    return [path for path in named if path.is_file()]
