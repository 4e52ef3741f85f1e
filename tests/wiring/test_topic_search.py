"""Questions are searched for with the name of the topic that their keywords stand for, and an explanation says so."""

from pathlib import Path

import pytest

from groundwire.wiring import assemble
from groundwire.wiring.searching import Explainer, build_explainer

FILE = """version = 1
[[intents]]
label = "refund_policy"
keywords = { "money back" = 3, "refund" = 3 }
[[intents]]
label = "cancellation"
keywords = { "cancel" = 3 }
"""


@pytest.fixture
def explain(tmp_path: Path) -> Explainer:
    (tmp_path / "intents.toml").write_text(FILE)
    (tmp_path / "refunds.md").write_text("# Refunds\n\nPlans are refunded within 30 days.")
    (tmp_path / "leaving.md").write_text("# Leaving\n\nWhoever cancels may come back any time.")
    return build_explainer(assemble("fast", tmp_path), labels=("public",), k=None)


async def test_the_passage_that_says_it_in_other_words_is_found(explain: Explainer) -> None:
    """By words alone the question finds the other page."""
    found = await explain("Can I get my money back?")
    assert found.sought == "Can I get my money back? refund policy"
    assert found.passages[0].passage.doc_id == "refunds.md"


async def test_a_question_that_names_its_topic_is_searched_as_it_is(explain: Explainer) -> None:
    """Nothing is said twice."""
    assert (await explain("Can I get a refund?")).sought is None
    assert (await explain("When does the harbour open?")).sought is None
