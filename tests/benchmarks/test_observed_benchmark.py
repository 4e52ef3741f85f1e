"""The measurement of what observing costs runs, and says what it promises to say."""

import pytest
from measured import report_of


@pytest.mark.server
@pytest.mark.slow
def test_a_short_run_compares_each_side_with_the_unobserved_one() -> None:
    """In the same processes: more CPU of all parts, with an interval; all queries of all bursts came back."""
    short = ("--seconds", "0", "--bursts", "1", "--queries", "50")
    report = report_of("observed", *short, "--sides", "told,sampled,traced")
    assert (report["queries"], report["rounds"]) == (50, 1)
    assert set(report["sides"]) == {"plain", "told", "sampled", "traced"}
    for of in report["sides"].values():
        assert of["queries_per_s"] > 0
        assert of["cpu_us"] > 0
        assert of["more_cpu"]["low"] <= of["more_cpu"]["median"] <= of["more_cpu"]["high"]
        assert set(of["more_us"]) == {"all", "workers", "client", "server"}
    assert report["sides"]["traced"]["more_us"]["workers"]["median"] > 0
