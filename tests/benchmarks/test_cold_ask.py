"""The measurement of a cold question asks a real one."""

import pytest
from measured import report_of


@pytest.mark.server
@pytest.mark.slow
def test_a_run_answers_and_reports_its_seconds() -> None:
    """`--json` holds the median of the runs; a run that did not answer would have failed."""
    report = report_of("cold_ask", "--runs", "1")
    assert report["runs"] == 1
    assert 0 < report["min_s"] == report["median_s"] == report["max_s"]
