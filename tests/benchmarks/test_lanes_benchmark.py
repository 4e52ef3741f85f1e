"""The comparison of lanes runs, and says what it promises to say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.server
@pytest.mark.slow
def test_a_short_run_counts_every_query_once() -> None:
    """`--json` holds rate and account; the exit code says that nothing was lost."""
    short = ("--queries", "100", "--rounds", "1", "--lanes", "2")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.lanes", "--json", *short],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    [of] = json.loads(done.stdout)["arrangements"]
    assert (of["lanes"], of["workers"]) == (2, 1)
    assert (of["accepted"], of["lost"], of["doubled"], of["verify"]) == (500, 0, 0, True)
    assert of["queries_per_s"] > 0
