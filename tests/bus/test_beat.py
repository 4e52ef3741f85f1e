"""The beat judges by its own pulse: on a clock that the test moves."""

from types import SimpleNamespace

import pytest
from bus_system import FAST, FakeBackend

from bus.beat import Beat
from bus.keys import Keys
from bus.settle import Place
from contracts import TOPOLOGY


class Heart:
    """A beat, and the clock that it goes by."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        patch.setattr("bus.beat.time", SimpleNamespace(monotonic=lambda: self.now))
        place = Place(TOPOLOGY.stage("understand"), Keys(0), "me", FAST, "")
        self.beat = Beat(FakeBackend(), [place])

    def beats(self, times: int) -> None:
        """So many good beats, as far apart as they should be."""
        for _ in range(times):
            assert self.beat.beat()
            self.now += FAST.beat_s


@pytest.fixture
def heart(monkeypatch: pytest.MonkeyPatch) -> Heart:
    """One that has not beaten yet."""
    return Heart(monkeypatch)


def test_others_are_judged_after_a_whole_ttl_of_own_good_beats(heart: Heart) -> None:
    """Not before."""
    assert not heart.beat.is_proven
    heart.beats(3)
    assert not heart.beat.is_proven
    heart.beats(2)
    assert heart.beat.is_proven


def test_who_was_frozen_judges_nobody_until_it_has_beaten_for_a_ttl_again(heart: Heart) -> None:
    """Its machine was, perhaps, and everyone on it: none of them has beaten, and none of them is dead."""
    heart.beats(5)
    heart.now += FAST.alive_ttl_s
    assert not heart.beat.is_proven
    heart.beats(3)
    assert not heart.beat.is_proven
    heart.beats(2)
    assert heart.beat.is_proven
