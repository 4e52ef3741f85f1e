"""The tokenizer that classification, search and reranking share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tokens import Analyzer, stem, words


@given(st.text())
def test_words_are_the_runs_of_alphanumeric_characters(text: str) -> None:
    """The course's rule: lower case, everything not alphanumeric is a blank, split."""
    lowered = text.lower()
    assert words(text) == "".join(c if c.isalnum() else " " for c in lowered).split()


def test_stop_words_are_dropped_and_repetitions_kept() -> None:
    """BM25 counts terms, so the analyzer may not."""
    assert Analyzer(frozenset({"the"}))("The fox, the fox!") == ["fox", "fox"]


@pytest.mark.parametrize(
    "forms",
    [
        ("refund", "refunds", "refunded", "refunding", "refundable"),
        ("price", "prices", "pricing", "priced"),
        ("bill", "bills", "billed", "billing"),
        ("cancel", "cancels", "cancelled", "cancelling", "cancellation"),
        ("policy", "policies"),
        ("copy", "copied", "copies"),
    ],
)
def test_the_forms_of_a_word_meet_in_one_stem(forms: tuple[str, ...]) -> None:
    """A question and its source need not use the same ending."""
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["need", "bring", "this", "status", "access", "x", ""])
def test_a_stem_is_never_longer_and_short_words_stay(word: str) -> None:
    """What only looks like an ending is none."""
    assert word.startswith(stem(word))
    assert len(stem(word)) >= min(len(word), 3)
