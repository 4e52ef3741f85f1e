"""The formatter: one response for each outcome, one value behind its text and its JSON."""

import pytest

from agents.format import format as format_verdict
from agents.wording import Wording
from contracts import (
    Approved,
    Caveat,
    Channel,
    Clarification,
    Intent,
    OutOfScope,
    OutOfScopeReason,
    Query,
    Rejected,
    Segment,
)

WORDING = Wording(rejected="Not verified.", caveat_entity="No word of {values}.")
QUOTE = "Fish & <chips> cost 9."


def intent(channel: Channel = "text") -> Intent:
    return Intent(
        query=Query(query_id="0-1", text="?", session_id="s", channel=channel),
        cleaned_text="?",
        label="food",
        confidence=0.75,
        category_scores={"food": 0.75},
        in_scope=True,
    )


def approved(channel: Channel = "text") -> Approved:
    segment = Segment(
        text=QUOTE,
        passage_id="menu_p0",
        doc_id="menu",
        title="Menu <1>",
        source="menu.md",
        heading_path=("Menu <1>", "Fried"),
        char_start=0,
        char_end=len(QUOTE),
    )
    return Approved(
        label="approved",
        intent=intent(channel),
        corpus_version="v1",
        segments=(segment,),
        caveats=(Caveat(kind="entity_not_in_source", name="day", values=("friday",)),),
        related=(),
        checks=(),
    )


async def test_an_answer_shows_quote_caveat_and_numbered_source() -> None:
    """The reader sees what is quoted, what to mind and where it stands."""
    response = await format_verdict(approved(), wording=WORDING)
    assert response.display_text == (
        f"{QUOTE} [1]\n\nNo word of friday.\n\nSources:\n[1] Menu <1> › Fried (menu.md)"
    )
    assert response.channel_json.citations[0].quote == QUOTE
    assert response.channel_json.caveats == ("No word of friday.",)
    assert (response.status, response.label, response.confidence) == ("approved", "food", 0.75)


async def test_html_is_escaped() -> None:
    """A document is text, never markup of the page that shows it."""
    response = await format_verdict(approved("html"), wording=WORDING)
    assert "<chips>" not in response.display_text
    assert "Fish &amp; &lt;chips&gt;" in response.display_text
    assert "Menu &lt;1&gt;" in response.display_text


async def test_markdown_quotes_and_escapes() -> None:
    """Titles can't become links or markup."""
    response = await format_verdict(approved("markdown"), wording=WORDING)
    assert f"> {QUOTE.replace('<', '&lt;')}" in response.display_text
    assert r"Menu \<1\>" in response.display_text


async def test_json_is_the_payload_itself() -> None:
    """The text of the JSON channel is the JSON."""
    response = await format_verdict(approved("json"), wording=WORDING)
    assert response.display_text == response.channel_json.model_dump_json()


@pytest.mark.parametrize("channel", ["text", "markdown", "html", "json"])
async def test_every_other_outcome_has_an_honest_message(channel: Channel) -> None:
    """Out of scope, rejected, and a question to ask back."""
    asked = intent(channel)
    rejected = Rejected(intent=asked, corpus_version="v1", checks=())
    response = await format_verdict(rejected, wording=WORDING)
    assert response.status == "rejected"
    assert "Not verified." in response.display_text
    outside = OutOfScope(intent=asked, reason="no_label")
    response = await format_verdict(outside, wording=WORDING)
    assert response.status == "out_of_scope"
    assert WORDING.out_of_scope in response.display_text
    unclear = Clarification(intent=asked, options=("Lunch", "Dinner"))
    response = await format_verdict(unclear, wording=WORDING)
    assert response.status == "clarification_needed"
    assert "Dinner" in response.display_text


@pytest.mark.parametrize(
    ("reason", "beginning"),
    [("empty", "There was no question"), ("language", "I can't"), ("no_label", "Not here.")],
)
async def test_a_refusal_says_why_and_what_can_be_asked(
    reason: OutOfScopeReason, beginning: str
) -> None:
    """The descriptions of the labels, in configured words."""
    wording = Wording(
        out_of_scope="Not here.", can_help="Ask about {topics}.", topics=("boats", "ropes")
    )
    outside = OutOfScope(intent=intent(), reason=reason)
    response = await format_verdict(outside, wording=wording)
    assert response.display_text.startswith(beginning)
    assert response.display_text.endswith("Ask about boats, ropes.")


async def test_own_words_may_place_the_topics_themselves() -> None:
    """Then they are not said twice."""
    wording = Wording(out_of_scope="Only {topics} here.", topics=("boats",))
    outside = OutOfScope(intent=intent(), reason="no_label")
    response = await format_verdict(outside, wording=wording)
    assert response.display_text == "Only boats here."
