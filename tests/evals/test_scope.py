"""The measure of the scope gate: an interval that is known, and data that is named when it isn't there."""

from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire.evals.scope import foreign_questions, measure, wilson


def test_the_interval_is_wilsons() -> None:
    """Known values: 98 of 100, and the ends."""
    found = wilson(98, 100)
    assert (found.share, found.n) == (0.98, 100)
    assert (round(found.low, 4), round(found.high, 4)) == (0.93, 0.9945)
    assert wilson(0, 10).low == 0.0
    assert round(wilson(10, 10).low, 4) == 0.7225
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Both sets, with what would be expected."""
    with pytest.raises(Misconfigured, match="policies"):
        measure(tmp_path, ["words"], lambda step, done, total: None)
    with pytest.raises(Misconfigured, match=r"data_full\.json"):
        foreign_questions(tmp_path)
