"""The measurement of a cold question asks a real one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.server
@pytest.mark.slow
def test_a_run_answers_and_reports_its_seconds() -> None:
    """`--json` holds the median of the runs; a run that did not answer would have failed."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.cold_ask", "--json", "--runs", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    report = json.loads(run.stdout)
    assert report["runs"] == 1
    assert 0 < report["min_s"] == report["median_s"] == report["max_s"]
