"""The first agent, with the keyword classifier."""

import pytest

from agents.entities import EntityValue, Vocabulary
from agents.keywords import Category, KeywordClassifier
from agents.matching import Matching, occurs
from agents.understand import AnyQuestion, understand
from contracts import Entity, Intent, OutOfScope, Query

PLANS = Vocabulary(
    (
        EntityValue("size", "large", ("large", "big")),
        EntityValue("size", "small", ("small",)),
        EntityValue("colour", "red", ("red",)),
    )
)
CLASSIFIER = KeywordClassifier(
    categories=(
        Category("shipping", (("ship", 3), ("deliver", 1))),
        Category("sizes", (("size", 2), ("fit", 1))),
        Category("care", (("wash", 2),)),
    ),
    vocabulary=PLANS,
    threshold=0.34,
)


async def ask(text: str, classifier: KeywordClassifier = CLASSIFIER) -> Intent | OutOfScope:
    found = await understand(Query(text=text, session_id="s1"), classifier=classifier)
    assert isinstance(found, Intent | OutOfScope)
    return found


async def test_weights_become_a_distribution() -> None:
    """Shares of the weight of the keywords that occur, each counted once."""
    intent = await ask("Ship, ship, SHIP: will the size fit?")
    assert isinstance(intent, Intent)
    assert intent.category_scores == {"shipping": 0.5, "sizes": 0.5, "care": 0.0}
    assert intent.confidence == 0.5


async def test_the_first_listed_category_wins_a_tie() -> None:
    """Equal shares keep the order of the configuration."""
    intent = await ask("size and ship and fit")
    assert isinstance(intent, Intent)
    assert intent.label == "shipping"
    assert intent.labels == ("shipping", "sizes")


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_a_blank_question_is_out_of_scope_as_empty(text: str) -> None:
    """Nothing was asked."""
    found = await ask(text)
    assert isinstance(found, OutOfScope)
    assert found.reason == "empty"
    assert found.intent.label == "out_of_scope"


async def test_a_question_without_keywords_is_out_of_scope_with_all_scores_zero() -> None:
    """No keyword, no share: never a division by zero."""
    found = await ask("🙂 مرحبا \x00")
    assert isinstance(found, OutOfScope)
    assert found.reason == "no_label"
    assert set(found.intent.category_scores.values()) == {0.0}


async def test_a_share_below_the_threshold_is_out_of_scope() -> None:
    """A question torn between three categories is sure of none."""
    even = KeywordClassifier(
        tuple(Category(label, ((label, 1),)) for label in ("one", "two", "three")), PLANS, 0.34
    )
    found = await ask("one two three", even)
    assert isinstance(found, OutOfScope)
    assert found.reason == "low_confidence"
    assert found.intent.confidence == pytest.approx(1 / 3)


async def test_the_first_listed_entity_word_that_occurs_decides() -> None:
    """Listing order, not the order in the question; one value for each entity."""
    intent = await ask("ship a small big red one")
    assert intent_entities(intent) == (
        Entity(name="size", value="large"),
        Entity(name="colour", value="red"),
    )


def intent_entities(found: Intent | OutOfScope) -> tuple[Entity, ...]:
    assert isinstance(found, Intent)
    return found.entities


@pytest.mark.parametrize(
    ("keyword", "text", "matching", "expected"),
    [
        ("sla", "translate this", "substring", True),
        ("sla", "translate this", "words", False),
        ("sla", "What's your SLA?", "words", True),
        ("refund", "non-refundable?", "words", True),
        ("how much", "Much is known of how", "words", False),
        ("log in", "logged  in", "words", True),
        ("$", "is it $9", "words", True),
        ("Two-Factor", "two factor", "words", True),
    ],
)
def test_keywords_match_by_the_rule_of_the_profile(
    keyword: str, text: str, matching: Matching, expected: bool
) -> None:
    """The course matches substrings; whole words don't find `sla` in `translate`."""
    assert occurs(keyword, text, matching) is expected


@pytest.mark.parametrize(
    ("is_near", "text"), [(True, "Is it far?"), (False, "Is it far?"), (True, " ")]
)
async def test_without_intents_the_documents_decide_what_is_in_scope(
    is_near: bool, text: str
) -> None:
    """A near question has the neutral label; a far one none, and the reason; a blank one is empty."""
    asked: list[tuple[str, tuple[str, ...]]] = []

    async def familiarity(text: str, labels: tuple[str, ...]) -> bool:
        asked.append((text, labels))
        return is_near

    query = Query(text=text, session_id="s1", labels=("staff",))
    found = await understand(query, classifier=AnyQuestion(), familiarity=familiarity)
    if not text.strip():
        assert isinstance(found, OutOfScope)
        assert (found.reason, asked) == ("empty", [])
        return
    assert asked == [(text, ("staff",))]
    if is_near:
        assert isinstance(found, Intent)
        assert (found.label, found.category_scores) == ("question", {"question": 1.0})
    else:
        assert isinstance(found, OutOfScope)
        assert (found.reason, found.intent.confidence) == ("far_from_corpus", 0.0)
        assert not any(found.intent.category_scores.values())
