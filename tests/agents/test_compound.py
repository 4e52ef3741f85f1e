"""A question that asks several things is taken apart by its grammar."""

import time

import pytest

from agents.compound import MOST_PARTS, alone, split


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
        (
            "Which ports are open as well as who may change them?",
            ("Which ports are open", "who may change them?"),
        ),
        (
            "Can I export my notes and invite a colleague?",
            ("Can I export my notes?", "Can I invite a colleague?"),
        ),
        (
            "What is your uptime goal and the price of a seat?",
            ("What is your uptime goal?", "What is your price of a seat?"),
        ),
        (
            "What does it cost, and if I leave early, do I pay all of it?",
            ("What does it cost", "if I leave early, do I pay all of it?"),
        ),
        (
            "I paid twice and I see one bill, is that right, and when is it sent?",
            ("I paid twice and I see one bill, is that right", "when is it sent?"),
        ),
        (
            "What does it cost and I lost my card, how do I pay now?",
            ("What does it cost", "I lost my card, how do I pay now?"),
        ),
        (
            "We are a school. Do we pay less? Where do I ask?",
            ("We are a school. Do we pay less?", "Where do I ask?"),
        ),
        ("We are a school. Do we pay less?", ()),
        ("Our owner left; who may pay?", ()),
        ("Where is St. John's Church?", ()),
        ("What is the difference between a seat and a plan?", ()),
        ("Do you take cash or any other coin?", ()),
        ("How do I cancel?", ()),
        ("Can I pause and resume my plan?", ()),
        ("I paid twice and want one payment back", ()),
        ("", ()),
    ],
)
def test_a_question_is_split_where_it_asks_again(text: str, parts: tuple[str, ...]) -> None:
    """Each part is whole by itself; a single question has none."""
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("We are a school. Do we pay less?", ("Do we pay less?",)),
        ("Do we pay less? We are a school.", ("Do we pay less?",)),
        ("I lost my card, how do I pay now?", ("how do I pay now?",)),
        ("Our owner left; who may pay?", ("who may pay?",)),
        ("If I leave early, do I pay all of it?", ()),
        ("How do I pay?", ()),
        ("I lost my card.", ()),
        ("Who pays? And when?", ()),
        ("", ()),
    ],
)
def test_a_single_question_is_also_asked_without_its_circumstances(
    text: str, bare: tuple[str, ...]
) -> None:
    """A condition stays: without it something else is asked."""
    assert alone(text) == bare


def test_no_more_than_a_few_parts_are_made() -> None:
    """Each costs a classification."""
    assert len(split("What is it? " * 100)) == MOST_PARTS


@pytest.mark.parametrize("piece", ["what is a and ", "and ", "? ", "what is the x "])
def test_the_longest_question_is_split_in_no_time(piece: str) -> None:
    """8,000 characters of what the grammar looks for."""
    started = time.process_time()
    split((piece * 8_000)[:8_000])
    alone((piece * 8_000)[:8_000])
    assert time.process_time() - started < 2.0
