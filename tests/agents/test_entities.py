"""What a question names: listed values on word boundaries, and what expressions find."""

import re

from agents.entities import EntityPattern, EntityValue, Vocabulary
from contracts import Entity

LISTED = (
    EntityValue("plan", "annual", ("annual", "yearly")),
    EntityValue("plan", "monthly", ("monthly",)),
    EntityValue("colour", "red", ("red",)),
)
ORDER = EntityPattern("order", re.compile(r"\b(?i:ord)-(\d{4})\b"))
WORDS = Vocabulary(LISTED, "words", canonical_only=False, several=True, patterns=(ORDER,))


def named(text: str, vocabulary: Vocabulary = WORDS) -> list[tuple[str, str]]:
    return [(entity.name, entity.value) for entity in vocabulary.named_in(text)]


def test_two_values_of_one_entity_are_both_found() -> None:
    """`all`: in listing order; `first`, the course's: only the first listed."""
    text = "Is monthly dearer than yearly?"
    assert named(text) == [("plan", "annual"), ("plan", "monthly")]
    assert named(text, Vocabulary(LISTED)) == [("plan", "annual")]


def test_a_value_inside_another_word_is_not_found() -> None:
    """Word boundaries: `red` isn't in `credit`."""
    assert named("Is there a credit for biannual reports?") == []


def test_an_expression_finds_each_value_once() -> None:
    """Its first group is the value."""
    assert named("ord-1234, ORD-1234 and ord-9999, not ord-12") == [
        ("order", "1234"),
        ("order", "9999"),
    ]


def test_what_an_expression_found_is_known_and_asked_of_no_source() -> None:
    """No document speaks of the reader's order; a listed value that it lacks is a caveat."""
    found = (Entity(name="order", value="1234"), Entity(name="plan", value="annual"))
    assert all(WORDS.knows(entity) for entity in found)
    assert [caveat.name for caveat in WORDS.caveats(found, "Monthly only.")] == ["plan"]


def test_an_expression_finds_a_limited_number_of_values() -> None:
    """A question of 8,000 characters makes no message of thousands of entities."""
    text = " ".join(f"ord-{number:04}" for number in range(800))
    assert len(named(text)) == 20
