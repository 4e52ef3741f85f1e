"""A question that asks several things is taken apart by its grammar."""

import time

import pytest

from agents.compound import MOST_PARTS, split


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "What is the cost and refund policy for annual plans?",
            ("What is the cost for annual plans?", "What is the refund policy for annual plans?"),
        ),
        (
            "How do I cancel and will I get a refund?",
            ("How do I cancel", "will I get a refund?"),
        ),
        (
            "What does it cost, and until when may I return it?",
            ("What does it cost", "until when may I return it?"),
        ),
        ("Can I pay by card? What does it cost?", ("Can I pay by card?", "What does it cost?")),
        (
            "What are the prices and the limits?",
            ("What are the prices?", "What are the limits?"),
        ),
        ("How do I cancel?", ()),
        ("Can I pause and resume my plan?", ()),
        ("I paid twice and want one payment back", ()),
        ("", ()),
    ],
)
def test_a_question_is_split_where_it_asks_again(text: str, parts: tuple[str, ...]) -> None:
    """Each part is whole by itself; a single question has none."""
    assert split(text) == parts


def test_no_more_than_a_few_parts_are_made() -> None:
    """Each costs a classification."""
    assert len(split("What is it? " * 100)) == MOST_PARTS


@pytest.mark.parametrize("piece", ["what is a and ", "and ", "? ", "what is the x "])
def test_the_longest_question_is_split_in_no_time(piece: str) -> None:
    """8,000 characters of what the grammar looks for."""
    started = time.process_time()
    split((piece * 8_000)[:8_000])
    assert time.process_time() - started < 2.0
