"""What must be said beside quotes."""

from datetime import UTC, datetime

import pytest

from agents.caveats import Noting, Quoted, due
from agents.entities import EntityValue, Vocabulary
from agents.naming import named_in, told
from contracts import Caveat, Intent, Query

ASKED_AT = datetime(2026, 12, 1, tzinfo=UTC)


def asked(text: str) -> Intent:
    return Intent(
        query=Query(text=text, session_id="s", asked_at=ASKED_AT),
        cleaned_text=text,
        label="question",
        confidence=1.0,
        category_scores={"question": 1.0},
        in_scope=True,
    )


def quoted(text: str, doc: str = "a", dated: str | None = None, heading: str = "") -> Quoted:
    return Quoted(text, text, heading, doc, doc.upper(), dated)


@pytest.mark.parametrize(
    ("question", "numbers", "dates", "names"),
    [
        ("May I return it after 60 days?", ("60",), (), ()),
        ("What changed in 2019 and on 2024-05-01?", (), ("2019", "2024-05-01"), ()),
        ("Is it open on March 3rd 2025?", (), ("March 3rd 2025",), ()),
        ("I'm in Austin, Texas. Do I pay?", (), (), ("Austin", "Texas")),
        (
            "Does VACUUM FULL lock? Is S3 used by QuickBooks?",
            (),
            (),
            ("VACUUM FULL", "S3", "QuickBooks"),
        ),
        ("CAN I GET A REFUND NOW PLEASE TODAY?", (), (), ()),
    ],
)
def test_numbers_dates_and_names_are_told_by_their_form(
    question: str, numbers: tuple[str, ...], dates: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """A year is a date, a first word is no name, and neither is anything that is shouted."""
    found = named_in(question)
    assert (found.numbers, found.dates, found.names) == (numbers, dates, names)


def test_a_number_is_the_same_however_it_is_written() -> None:
    """In words up to ninety, with thousands apart, with empty decimals."""
    source = told("Thirty days, 1,000 seats, 12.50 euros, 5.00 hours")
    assert all(source.has_number(one) for one in ("30", "1000", "12.50", "5"))
    assert not source.has_number("12")


def test_what_the_question_names_and_the_evidence_lacks_is_said_by_kind() -> None:
    """The passage and the headings above it count as evidence, not only the quoted words."""
    intent = asked("Can I, from Texas, return Widgets after 60 days, or in 2019?")
    found = due(intent, [quoted("Returns take 30 days.", heading="Widgets")], Noting())
    assert found == (
        Caveat(kind="number_not_in_source", values=("60",)),
        Caveat(kind="date_not_in_source", values=("2019",)),
        Caveat(kind="name_not_in_source", values=("Texas",)),
    )
    assert due(intent, [], Noting()) == ()


def test_two_documents_with_other_numbers_for_the_same_disagree() -> None:
    """One of them, or both about different things, don't; nor do two plans that are entities."""
    left, right = (
        "Annual plans are refunded within 30 days.",
        "Annual plans are refunded within 45 days.",
    )
    intent = asked("How long?")
    disagreeing = (Caveat(kind="sources_disagree", values=("A", "B")),)
    assert due(intent, [quoted(left), quoted(right, "b")], Noting()) == disagreeing
    assert due(intent, [quoted(left), quoted(right, "a")], Noting()) == ()
    assert due(intent, [quoted(left), quoted("A box weighs 45 days.", "b")], Noting()) == ()
    plans = Vocabulary(
        tuple(EntityValue("plan", value, (value,)) for value in ("annual", "monthly")), "words"
    )
    other = "Monthly plans are refunded within 7 days."
    assert due(intent, [quoted(left), quoted(other, "b")], Noting(plans)) == ()


def test_a_source_is_old_by_its_own_date_and_the_questions() -> None:
    """A date that is no day is none to count from; a question without a time is not asked at any."""
    old, new = quoted("x", dated="2019-03-01T10:00:00Z"), quoted("y", dated="2026-01-01")
    found = due(asked("Why?"), [new, old, quoted("z", dated="2001")], Noting())
    assert found == (Caveat(kind="source_is_old", values=("2019-03-01",)),)
    untimed = asked("Why?").model_copy(update={"query": Query(text="Why?", session_id="s")})
    assert due(untimed, [old], Noting()) == ()


def test_only_configured_kinds_are_given() -> None:
    """The course notes entities alone."""
    course = Noting(kinds=frozenset({"entity_not_in_source"}))
    assert due(asked("After 60 days?"), [quoted("No.")], course) == ()
