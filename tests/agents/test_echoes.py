"""How much of a question's wording a sentence has."""

import pytest

from agents.echoes import echoes, wording

ASKED = wording(
    "When did Zephyr reside in town in 1944 with 2 boats?",
    ("zephyr", "residence", "town"),
    ("zephyr", "residenc", "town"),
)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("When did Zephyr reside in town in 1944 with 2 boats?", (1.0, 1.0, 2.0, 1.0)),
        ("Two boats of Zephyr came to towns.", (2 / 11, 2 / 3, 1.0, 1.0)),
        ("The residents failed.", (0.0, 1 / 3, 0.0, 0.0)),
        ("", (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_wording_is_found_again(sentence: str, found: tuple[float, ...]) -> None:
    """Words in their order, families of words by their beginnings, numbers also in words, names whole."""
    assert tuple(echoes(ASKED, sentence).values()) == pytest.approx(found)


def test_a_question_without_words_finds_nothing() -> None:
    """No division by nothing."""
    assert set(echoes(wording("?", (), ()), "It is six.").values()) == {0.0}
