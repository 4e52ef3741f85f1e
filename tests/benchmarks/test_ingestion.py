"""The measurements of ingestion and of memory run to their ends on a small corpus, every step checked on the way."""

import pytest
from measured import report_of

from groundwire.nursery import CAN_FORK

SMALL = ("--documents", "10")


@pytest.mark.server
@pytest.mark.skipif(not CAN_FORK, reason="workers share nothing where none is forked from another")
def test_a_second_worker_costs_a_quarter_of_the_first() -> None:
    """Their interpreter, libraries, models and documents are the same pages."""
    report = report_of("memory", *SMALL, within_s=110)
    assert [one["stage"] for one in report["workers"]].count("retrieve") == 2
    assert 0.0 < report["second_private_of_first_resident"] <= 0.25


def test_a_run_reports_every_figure() -> None:
    """A page that isn't found after its edit, or a run that isn't idle when nothing changed, would have failed."""
    report = report_of("ingestion", *SMALL, within_s=110)
    assert report["documents"] == 10
    assert all(value > 0 for value in report.values())
