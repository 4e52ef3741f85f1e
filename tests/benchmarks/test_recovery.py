"""The measurement of recovery kills a worker of each of its systems and sees the work done all the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.server, pytest.mark.timeout(180)]


def test_a_kill_of_each_system_is_recovered_from_and_timed() -> None:
    """A query that wasn't answered would have failed the run."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.recovery", "--json", "--kills", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
        check=True,
    )
    report = json.loads(run.stdout)
    assert len(report) == 3
    assert all(0.0 < figures["max_s"] < 60.0 for figures in report.values())
