"""The set of sentences with the highest expected F."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.selection import choose, expected_f


def by_hand(probabilities: list[float], chosen: set[int], beta: float) -> float:
    """The expectation over every outcome."""
    total = 0.0
    for outcome in product((0, 1), repeat=len(probabilities)):
        chance = 1.0
        for true, probability in zip(outcome, probabilities, strict=True):
            chance *= probability if true else 1.0 - probability
        hits = sum(outcome[place] for place in chosen)
        if hits:
            weight = beta * beta
            total += chance * (1 + weight) * hits / (len(chosen) + weight * sum(outcome))
    return total


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6), st.sampled_from([0.5, 1.0, 2.0]))
def test_no_other_set_has_a_higher_expected_f(probabilities: list[float], beta: float) -> None:
    """Of all sets, not only of the best-first ones."""
    chosen = choose(probabilities, beta)
    places = range(len(probabilities))
    sets = [set(one) for size in places for one in combinations(places, size + 1)]
    best = max(by_hand(probabilities, one, beta) for one in sets)
    assert by_hand(probabilities, set(chosen), beta) == pytest.approx(best)
    ranked = sorted(probabilities, reverse=True)
    assert expected_f(ranked, len(chosen), beta) == pytest.approx(best)


def test_a_smaller_beta_never_makes_an_answer_longer() -> None:
    """Brevity is a setting."""
    probabilities = [0.9, 0.6, 0.5, 0.4, 0.2, 0.1]
    sizes = [len(choose(probabilities, beta)) for beta in (0.2, 0.5, 1.0, 2.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_equal_sentences_keep_their_order_and_a_limit_holds() -> None:
    """No sentence is preferred for anything but its probability and its place."""
    assert choose([0.5, 0.5, 0.5]) == [0, 1, 2]
    assert choose([0.9, 0.9, 0.9], most=2) == [0, 1]
    assert choose([]) == []


def test_what_costs_more_than_it_gains_stays_out() -> None:
    """A price of length: the long sentence goes first, and a single one stays whatever it costs."""
    probabilities = [0.9, 0.7, 0.7]
    assert set(choose(probabilities)) == {0, 1, 2}
    assert set(choose(probabilities, costs=[0.0, 0.4, 0.01])) == {0, 2}
    assert choose([0.5], costs=[1.0]) == [0]
    assert choose(probabilities, costs=[0.0] * 3) == choose(probabilities)
