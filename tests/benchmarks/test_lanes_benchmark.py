"""The comparison of lanes runs, and says what it promises to say."""

import pytest
from measured import report_of


@pytest.mark.server
@pytest.mark.slow
def test_a_short_run_counts_every_query_once() -> None:
    """`--json` holds rate and account; the exit code says that nothing was lost."""
    short = ("--queries", "100", "--rounds", "1", "--lanes", "2")
    [of] = report_of("lanes", *short)["arrangements"]
    assert (of["lanes"], of["workers"]) == (2, 1)
    assert (of["accepted"], of["lost"], of["doubled"], of["verify"]) == (500, 0, 0, True)
    assert of["queries_per_s"] > 0
