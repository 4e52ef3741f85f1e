"""What a question is searched for beside its own words."""

import pytest

from agents.keywords import Category
from agents.tokens import Analyzer
from agents.topics import Topics

TOPICS = Topics(
    (
        Category("refund_policy", (("money back", 4.0), ("refund", 6.0))),
        Category("cancellation", (("subscription", 1.0), ("cancel", 4.0))),
        Category("plans", (("seat", 1.0),)),
    ),
    "words",
    Analyzer(frozenset({"can", "i", "my", "a"}), stems=True),
)


@pytest.mark.parametrize(
    ("question", "added"),
    [
        ("Can I get my money back?", " refund policy"),
        ("My subscription renewed, can I get my money back?", " refund policy"),
        ("Can I get a refund?", ""),
        ("Refunding a subscription", ""),
        ("What does a subscription with a seat cost?", ""),
        ("When does the harbour open?", ""),
        ("", ""),
    ],
)
def test_a_question_is_searched_with_the_name_that_its_keywords_stand_for(
    question: str, added: str
) -> None:
    """The label that they speak for most, unless it is named already or another speaks as loud."""
    assert TOPICS.added_to(question) == question + added


def test_without_intents_a_question_is_searched_as_it_is() -> None:
    """There is nothing to add."""
    assert Topics().added_to("Can I get my money back?") == "Can I get my money back?"
