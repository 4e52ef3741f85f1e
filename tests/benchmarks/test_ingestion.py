"""The measurement of ingestion runs to its end on a small corpus, every step checked on the way."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_run_reports_every_figure() -> None:
    """A page that isn't found after its edit, or a run that isn't idle when nothing changed, would have failed."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.ingestion", "--json", "--documents", "10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    report = json.loads(run.stdout)
    assert report["documents"] == 10
    assert all(value > 0 for value in report.values())
