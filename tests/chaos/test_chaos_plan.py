"""The plan of a run: the same seed strikes the same way."""

import pytest

from contracts import Invalid
from groundwire.chaos.faults import FAULTS, faults_named
from groundwire.chaos.plan import plan

ALL = tuple(FAULTS.values())


def test_a_seed_always_gives_the_same_plan() -> None:
    """What a failing run did can be done again."""
    assert plan(7, ALL) == plan(7, ALL)
    assert plan(7, ALL) != plan(8, ALL)


def test_a_plan_stays_the_same_between_releases() -> None:
    """A seed in a bug report means something: these strikes are written down."""
    strikes = plan(1, faults_named("kill,cut,slow"))
    assert [(one.fault, one.at_s, one.lasts_s, one.stage, one.overlaps) for one in strikes] == [
        ("cut", 1.0, 0.0, "format", False),
        ("slow", 1.417, 2.002, "format", False),
        ("kill", 3.945, 0.0, "retrieve", False),
    ]


def test_every_fault_comes_once_where_no_minutes_are_given() -> None:
    """One round is a whole campaign."""
    for seed in range(20):
        assert sorted(one.fault for one in plan(seed, ALL)) == sorted(FAULTS)


def test_a_longer_plan_goes_on_round_after_round_until_its_minutes_are_over() -> None:
    """It begins like the short one."""
    long = plan(3, ALL, minutes=5)
    assert long[: len(ALL)] == plan(3, ALL)
    assert len(long) > 3 * len(ALL)
    assert all(one.at_s < 300 for one in long)
    assert [one.number for one in long] == list(range(len(long)))


def test_strikes_come_in_order_and_last_as_long_as_their_fault_may() -> None:
    """Some begin in the middle of the one before, and say so."""
    for seed in range(20):
        strikes = plan(seed, ALL)
        assert [one.at_s for one in strikes] == sorted(one.at_s for one in strikes)
        for one in strikes:
            assert FAULTS[one.fault].shortest_s <= one.lasts_s <= FAULTS[one.fault].longest_s
    assert any(one.overlaps for seed in range(20) for one in plan(seed, ALL))


def test_a_plan_of_nothing_is_empty() -> None:
    assert plan(1, ()) == ()


def test_an_unknown_fault_is_named_with_the_ones_there_are() -> None:
    with pytest.raises(Invalid, match=r"no fault 'quake'.*kill"):
        faults_named("kill,quake")
    assert [fault.name for fault in faults_named(" kill,cut, kill")] == ["kill", "cut"]
