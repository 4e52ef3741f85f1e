"""The measurement of recovery kills a worker of each of its systems and sees the work done all the same."""

import pytest
from measured import report_of

pytestmark = [pytest.mark.server, pytest.mark.timeout(180)]


def test_a_kill_of_each_system_is_recovered_from_and_timed() -> None:
    """A query that wasn't answered would have failed the run."""
    report = report_of("recovery", "--kills", "1", within_s=170)
    assert len(report) == 3
    assert all(0.0 < figures["max_s"] < 60.0 for figures in report.values())
