"""The measurement of endurance puts queries through and says what memory did."""

import pytest
from measured import report_of

SHORT = ("--queries", "1000", "--looks", "2", "--kept", "1")


@pytest.mark.server
def test_a_short_run_ends_every_query_once_and_reports_each_process() -> None:
    """Workers, client and server, at each look; verified in the end."""
    report = report_of("endurance", *SHORT)
    assert report["verified"]
    assert report["answered"] == 1000
    assert len(report["looks_mb"]) == 2
    assert set(report["slope_mb"]) > {"understand", "format", "client", "server"}
    assert all(megabytes > 0 for look in report["looks_mb"] for megabytes in look.values())
