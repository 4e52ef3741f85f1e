"""The comparison with the bare loop runs, and says what it promises to say."""

from pathlib import Path

import pytest
from measured import report_of

ROOT = Path(__file__).parents[2]


@pytest.mark.server
@pytest.mark.slow
def test_a_short_run_reports_both_arrangements_and_their_ratios() -> None:
    """`--json` holds the two ratios, and for each arrangement and side its rates and latencies."""
    report = report_of("hops", "--seconds", "4")
    assert report["throughput_ratio"] > 0
    assert report["p50_ratio"] > 0
    assert set(report["processes"]) == {"five", "one"}
    for found in report["processes"].values():
        for side in ("ours", "bare"):
            assert found[side]["queries_per_s"] > 0
            assert 0 < found[side]["single_ms"]["p50"] <= found[side]["single_ms"]["p99"]
            assert 0 < found[side]["saturated_ms"]["p50"] <= found[side]["saturated_ms"]["p99"]


def test_the_bare_loop_stays_bare() -> None:
    """The yardstick is at most 80 lines, so that everyone can check it in a minute."""
    assert len((ROOT / "benchmarks" / "bare.py").read_text().splitlines()) <= 80
