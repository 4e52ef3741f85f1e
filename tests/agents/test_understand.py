"""The first agent, with the keyword classifier."""

import pytest

from agents.entities import EntityValue, Vocabulary
from agents.keywords import Category, KeywordClassifier
from agents.matching import Matching, occurs
from agents.underspecified import Asking
from agents.understand import AnyQuestion, Classification, Reading, understand
from contracts import Clarification, Entity, Intent, OutOfScope, Query

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


COURSE_LIKE = KeywordClassifier(
    categories=(
        Category("refunds", (("refund", 3), ("money back", 3))),
        Category("cancellation", (("cancel", 3), ("stop", 1))),
        Category("pricing", (("price", 3), ("how much", 3), ("cost", 2))),
    ),
    vocabulary=Vocabulary(
        (
            EntityValue("product", "Basic", ("basic",)),
            EntityValue("product", "Plus", ("plus",)),
            EntityValue("product", "Max", ("max",)),
        ),
        matching="words",
    ),
    threshold=0.34,
    matching="words",
)
ALL = Reading(
    splits=True,
    asking=Asking(
        COURSE_LIKE.vocabulary,
        ("product",),
        frozenset({"is", "the", "does", "much", "how"}),
        {"pricing": ("price", "how much", "cost")},
    ),
    is_foreign=lambda text: "wieviel" in text,
)


async def read(text: str) -> Intent | OutOfScope | Clarification:
    query = Query(text=text, session_id="s1")
    return await understand(query, classifier=COURSE_LIKE, reading=ALL)


@pytest.mark.parametrize("text", ["🙂", "the of to a", "x" * 8_000, "a " * 4_000])
async def test_what_says_nothing_is_out_of_scope(text: str) -> None:
    """One emoji, stop words only, 8,000 characters of nothing: refused without an error."""
    found = await read(text)
    assert isinstance(found, OutOfScope)
    assert found.reason == "no_label"


@pytest.mark.parametrize("text", ["That looks pricey", "unstoppable", "repricing cancelbot"])
async def test_a_keyword_inside_another_word_says_nothing(text: str) -> None:
    """Whole words, whatever their form."""
    assert isinstance(await read(text), OutOfScope)


async def test_a_word_with_a_hyphen_is_told_apart() -> None:
    """`non-refundable` speaks of refunds; `nonrefundable` is a word of its own."""
    spaced = await read("Is it non-refundable?")
    assert isinstance(spaced, Intent)
    assert spaced.label == "refunds"
    assert isinstance(await read("nonrefundable"), OutOfScope)


async def test_a_negated_question_keeps_its_topic() -> None:
    """Who doesn't want to cancel still asks about cancelling: the label is the topic, not the wish."""
    found = await read("I don't want to cancel")
    assert isinstance(found, Intent)
    assert found.label == "cancellation"


async def test_an_entity_in_a_foreign_question_changes_nothing() -> None:
    """It's named, and the question stays out of scope."""
    found = await read("Which basic chords suit a guitar?")
    assert isinstance(found, OutOfScope)
    assert [entity.value for entity in found.intent.entities] == ["Basic"]


async def test_a_compound_question_has_every_label_and_its_parts() -> None:
    """The primary first, then what the parts ask for."""
    found = await read("What is the cost and refund policy for Plus?")
    assert isinstance(found, Intent)
    assert set(found.labels) == {"refunds", "pricing"}
    assert found.label == found.labels[0]
    assert found.sub_questions == (
        "What is the cost for Plus?",
        "What is the refund policy for Plus?",
    )


async def test_parts_of_one_label_are_not_told_apart() -> None:
    """Asking twice for the same is one question."""
    found = await read("Can I cancel? How do I cancel?")
    assert isinstance(found, Intent)
    assert found.sub_questions == ()


async def test_an_open_question_is_asked_back() -> None:
    """Three products are configured and none is named."""
    found = await read("How much is it?")
    assert isinstance(found, Clarification)
    assert found.options == ("Basic", "Plus", "Max")
    assert found.intent.label == "pricing"


@pytest.mark.parametrize("text", ["How much is Plus?", "What is the price of the course?"])
async def test_a_question_that_says_what_it_is_about_is_not_asked_back(text: str) -> None:
    """It names a product, or something else."""
    assert isinstance(await read(text), Intent)


async def test_nothing_is_asked_back_or_taken_apart_unless_it_is_switched_on() -> None:
    """As in profile `reference`."""
    found = await understand(
        Query(text="How much is it? Can I cancel?", session_id="s"), classifier=COURSE_LIKE
    )
    assert isinstance(found, Intent)
    assert found.sub_questions == ()


async def test_a_question_in_another_language_is_refused_for_it() -> None:
    """Even where a keyword matches."""
    found = await read("wieviel refund?")
    assert isinstance(found, OutOfScope)
    assert found.reason == "language"


async def test_a_margin_decides_where_there_is_one() -> None:
    """A calibrated threshold stands above the shares."""

    class Judge:
        threshold = 0.34

        def __init__(self, margin: float) -> None:
            self.margin = margin

        async def classify(self, text: str) -> Classification:
            return Classification({"a": 0.2, "b": 0.3, "c": 0.3, "d": 0.2}, (), self.margin)

    query = Query(text="anything", session_id="s")
    within = await understand(query, classifier=Judge(0.0))
    assert isinstance(within, Intent)
    assert (within.label, within.labels) == ("b", ("b", "c"))
    outside = await understand(query, classifier=Judge(-0.1))
    assert isinstance(outside, OutOfScope)
    assert outside.reason == "low_confidence"
