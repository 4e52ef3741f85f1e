"""`benchmarks.load`: a short run of it."""

import pytest
from measured import report_of

pytestmark = [pytest.mark.server, pytest.mark.timeout(180)]


def test_every_question_of_a_load_is_answered_and_all_processes_are_counted() -> None:
    """Ten questions in two seconds of a small corpus: times, statuses, and the memory of each stage."""
    short = ("--documents", "2", "--minutes", "0.033", "--rate", "300")
    found = report_of("load", *short, within_s=150)
    assert found["asked"] == sum(found["statuses"].values()) == 10
    assert found["failed"] == 0
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["max_ms"]
    assert {"retrieve", "critic", "server", "all"} <= set(found["memory_mb"])
