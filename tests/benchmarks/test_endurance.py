"""The measurement of endurance puts queries through and says what memory did."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHORT = ("--queries", "1000", "--looks", "2", "--kept", "1")


@pytest.mark.server
def test_a_short_run_ends_every_query_once_and_reports_each_process() -> None:
    """Workers, client and server, at each look; verified in the end."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.endurance", "--json", *SHORT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    report = json.loads(run.stdout)
    assert report["verified"]
    assert report["answered"] == 1000
    assert len(report["looks_mb"]) == 2
    assert set(report["slope_mb"]) > {"understand", "format", "client", "server"}
    assert all(megabytes > 0 for look in report["looks_mb"] for megabytes in look.values())
