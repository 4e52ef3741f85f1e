"""`benchmarks.load`: a short run of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.server, pytest.mark.timeout(180)]
ROOT = Path(__file__).resolve().parents[2]


def test_every_question_of_a_load_is_answered_and_all_processes_are_counted() -> None:
    """Ten questions in two seconds of a small corpus: times, statuses, and the memory of each stage."""
    command = [sys.executable, "-m", "benchmarks.load", "--documents", "2", "--json"]
    short = ["--minutes", "0.033", "--rate", "300"]
    ran = subprocess.run(
        [*command, *short], cwd=ROOT, capture_output=True, text=True, timeout=150, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["asked"] == sum(found["statuses"].values()) == 10
    assert found["failed"] == 0
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["max_ms"]
    assert {"retrieve", "critic", "server", "all"} <= set(found["memory_mb"])
