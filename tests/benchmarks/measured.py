"""Measurements as commands: a short run of one, and what it reports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def report_of(name: str, *options: str, within_s: float = 100.0) -> Any:
    """The JSON of `python -m benchmarks.NAME --json`, which must end well."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
