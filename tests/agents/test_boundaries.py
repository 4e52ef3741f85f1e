"""Where a quote may begin and end."""

import pytest

from agents.boundaries import begins_sentence, ends_sentence

PARTED = [
    "It is open. |It was shut.",
    'He said "no." |She left.',
    "He said “no . ” |She left .",
    "It was called `` home . '' |In May it closed .",
    "He does not tell . ) |Glum is skilled .",
    "So it ends . ) '' |2 more follow .",
    "- one\n|- two",
]
WHOLE = [
    "It costs 9|.50 a day.",
    "At the cry `` Watch ! '' |and leaves .",
    "It asks `` why ? '' |, and no more .",
    "It asks `` why ? '' |) and goes on .",
    "He left . '' |-- A Magazine , May",
    "He left . '' |''",
    "He left . ' |It was late . '",
    'He left . " |Stay . "',
    "a small |boat",
    "It is open.|It was shut.",
]


@pytest.mark.parametrize("text", PARTED)
def test_a_sentence_ends_behind_the_marks_that_close_it(text: str) -> None:
    """Also where a blank stands before them, as in text that was taken apart into words."""
    assert parts(text) == (True, True)


@pytest.mark.parametrize("text", WHOLE)
def test_no_sentence_ends_within_one(text: str) -> None:
    """Marks that stand apart close none that goes on, and those that may open the next one close none at all."""
    assert parts(text) == (False, False)


def parts(text: str) -> tuple[bool, bool]:
    """Whether one ends before the bar, and whether one begins behind it."""
    at = text.index("|")
    whole = text.replace("|", "")
    return ends_sentence(whole, len(whole[:at].rstrip())), begins_sentence(whole, at)
