"""The measures, on rankings whose values can be worked out by hand."""

import math

import pytest

from groundwire.evals.metrics import hit, interval, ndcg, recall, reciprocal_rank

GRADES = {"a": 2, "b": 1}


def test_the_best_order_has_ndcg_one() -> None:
    """Whatever stands behind it."""
    assert ndcg(["a", "b", "x"], GRADES) == 1.0


def test_ndcg_discounts_by_rank_and_counts_grades() -> None:
    """Gain = grade, discount = log2(rank + 1)."""
    best = 2 + 1 / math.log2(3)
    assert ndcg(["x", "a"], GRADES) == pytest.approx(2 / math.log2(3) / best)


def test_what_stands_below_the_cut_counts_nothing() -> None:
    """Each measure has its own."""
    ranked = ["x"] * 10 + ["a"]
    assert ndcg(ranked, GRADES) == 0.0
    assert reciprocal_rank(ranked, GRADES) == 0.0
    assert recall(ranked, GRADES, 10) == 0.0
    assert recall(ranked, GRADES) == 0.5
    assert hit(["x", "a"], GRADES) == 0.0


def test_reciprocal_rank_is_of_the_first_that_is_relevant() -> None:
    """One over its rank."""
    assert reciprocal_rank(["x", "b", "a"], GRADES) == 0.5


def test_an_empty_ranking_measures_zero() -> None:
    """No passages were found: that counts."""
    assert [measure([], GRADES) for measure in (ndcg, recall, reciprocal_rank, hit)] == [0.0] * 4


def test_an_interval_holds_its_mean_and_is_the_same_each_time() -> None:
    """The bootstrap is seeded."""
    values = [0.0, 1.0, 1.0, 0.5] * 20
    found = interval(values)
    assert found.low < found.mean == 0.625 < found.high
    assert found == interval(values)
    assert interval([]).mean == 0.0
