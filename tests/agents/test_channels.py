"""Every channel says the same: all are written from one value, and none lets a document be more than text."""

from html import unescape
from html.parser import HTMLParser
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agents.format import format as format_verdict
from agents.format import payload_of
from agents.rendering import render
from agents.wording import Wording
from contracts import (
    Approved,
    Caveat,
    ChannelPayload,
    CheckResult,
    Clarification,
    DraftAnswer,
    Intent,
    Query,
    Rejected,
    RelatedPassage,
    RetrievedContext,
    Segment,
)

WORDING = Wording(link="https://docs.example.com/{source}#{heading}")
SCRIPT = '<script>alert("x")</script> & <img src=x onerror=alert(1)>'
INTENT = Intent(
    query=Query(query_id="0-1", text="?", session_id="s"),
    cleaned_text="?",
    label="food",
    confidence=0.75,
    category_scores={"food": 0.75},
    in_scope=True,
)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" "),
    min_size=1,
    max_size=30,
).map(lambda text: f"x{text}x")
quotes = st.lists(words, min_size=1, max_size=3).map("\n".join)


def segment(
    text: str,
    title: str = "Menu",
    heading: str = "Fried & baked",
    source: str = "food/menu 1.md",
) -> Segment:
    return Segment(
        text=text,
        passage_id="menu_p0",
        doc_id="menu",
        title=title,
        source=source,
        heading_path=(heading,),
        char_start=3,
        char_end=3 + len(text),
    )


def approved(*segments: Segment, caveat: str = "friday") -> Approved:
    return Approved(
        label="approved",
        intent=INTENT,
        corpus_version="v1",
        segments=segments,
        caveats=(Caveat(kind="entity_not_in_source", name="day", values=(caveat,)),),
        related=(),
        checks=(),
    )


class Shown(HTMLParser):
    """What a browser shows of HTML, and the elements that it makes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.kinds, self.links = "", list[str](), list[str]()
        self.feed(html)
        self.close()

    @property
    def tags(self) -> set[str]:
        return set(self.kinds)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.lists(quotes, min_size=1, max_size=3), words, words, words)
def test_every_channel_shows_all_that_the_json_holds(
    texts: list[str], title: str, heading: str, caveat: str
) -> None:
    """Each quote, caveat, title and number; read back, the JSON channel is the payload."""
    segments = [segment(text, title, heading) for text in texts]
    payload = payload_of(approved(*segments, caveat=caveat), WORDING)
    assert ChannelPayload.model_validate_json(render(payload, "json")) == payload
    text, shown = render(payload, "text"), Shown(render(payload, "html"))
    markdown = render(payload, "markdown")
    for cited in payload.citations:
        assert cited.quote in text
        assert cited.quote in shown.text
        assert f"[{cited.number}] {cited.title}" in text
        assert f"\n{cited.number}. [" in markdown
        for line in cited.quote.splitlines():
            assert f"> {line}".rstrip() in unescape(markdown) or "&" in line
    for told in payload.caveats:
        assert told in text
        assert told in shown.text
    assert shown.tags <= {"blockquote", "sup", "p", "strong", "ol", "ul", "li", "code", "a", "br"}


@pytest.mark.parametrize("place", ["quote", "title", "heading", "caveat"])
def test_markup_in_a_document_arrives_as_text(place: str) -> None:
    """No element, no attribute and no script of a document's own, in HTML or in Markdown."""
    given_words: dict[str, Any] = {"title": SCRIPT} if place == "title" else {}
    given_words |= {"heading": SCRIPT} if place == "heading" else {}
    quote = segment(SCRIPT if place == "quote" else "Nine.", **given_words)
    payload = payload_of(approved(quote, caveat=SCRIPT if place == "caveat" else "x"), WORDING)
    shown = Shown(render(payload, "html"))
    assert not {"script", "img"} & shown.tags
    assert SCRIPT in shown.text
    assert not {"script", "img"} & Shown(render(payload, "markdown").replace("\\<", "&lt;")).tags


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
"""As readers of Markdown are, and one that lets HTML through."""
BLOCKS = (
    "x\n\n<script>alert(1)</script>\n\ny",
    "x\n\n- an item\n\n2) another",
    "x\n---\n# y",
    "x\u2028\u2028+ y\x85\x0c> z",
    "x\u202egnp.exe\u2066 y",
    "| a | b |\n| - | - |\n| c | d |",
    "`x` ~~y~~ &lt;b&gt; [z](javascript:alert(1)) <javascript:alert(1)>",
)
PLACES = ("title", "heading", "source", "caveat", "option", "related")


def payload_with(text: str, place: str) -> ChannelPayload:
    """A payload that has this text in one of its places."""
    names = {place: text} if place in ("title", "heading", "source") else {}
    payload = payload_of(
        approved(segment("Nine.", **names), caveat=text if place == "caveat" else "x"), WORDING
    )
    related = RelatedPassage(passage_id="p", doc_id="d", title=text, source=text)
    update: dict[str, Any] = {"related": (related,)} if place == "related" else {}
    update |= {"options": (text,)} if place == "option" else {}
    return payload.model_copy(update=update)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", BLOCKS)
def test_no_name_is_more_than_words_within_its_line(text: str, place: str) -> None:
    """A title, a path, a word of the question: whatever they hold, a page has as many blocks as with a plain word."""
    held, plain = payload_with(text, place), payload_with("word", place)
    shown, usual = (Shown(MARKDOWN.render(render(one, "markdown"))) for one in (held, plain))
    assert (shown.kinds, len(shown.links)) == (usual.kinds, len(usual.links))
    assert not [link for link in shown.links if not link.startswith("https://docs.example.com/")]
    assert len(render(held, "text").splitlines()) == len(render(plain, "text").splitlines())
    assert Shown(render(held, "html")).tags == Shown(render(plain, "html")).tags
    written = "".join(render(held, channel) for channel in ("text", "markdown", "html"))
    assert not {"\u202e", "\u2066"} & set(written)


def test_a_quote_makes_no_link_of_its_number() -> None:
    """A definition in a document would have `[1]`, which we wrote, lead to wherever it likes."""
    payload = payload_of(approved(segment("[1]: https://evil.example\nNine days.")), Wording())
    shown = Shown(MARKDOWN.render(render(payload, "markdown")))
    assert shown.links == []
    assert "[1]" in shown.text


def test_a_citation_links_to_its_place_by_the_configured_template() -> None:
    """The path is escaped for a URL, the heading is an anchor; without a template there is no link."""
    link = "https://docs.example.com/food/menu%201.md#fried--baked"
    payload = payload_of(approved(segment("Nine.")), WORDING)
    assert payload.citations[0].link == link
    assert link in render(payload, "text")
    assert f"]({link})" in render(payload, "markdown")
    assert Shown(render(payload, "html")).links == [link]
    assert payload_of(approved(segment("Nine.")), Wording()).citations[0].link is None


SECRET = "forty-two days, unverified"
LEAKS = {
    "draft": DraftAnswer(
        intent=INTENT,
        corpus_version="v1",
        text=SECRET,
        segments=(segment(SECRET),),
        source_passage_ids=("menu_p0",),
        entity_match=True,
        related=(RelatedPassage(passage_id="p", doc_id="d", title=SECRET, source="s"),),
    ),
    "context": RetrievedContext(intent=INTENT, corpus_version=SECRET, passages=()),
    "intent": INTENT.model_copy(update={"cleaned_text": SECRET}),
    "query": Query(query_id="0-1", text=SECRET, session_id="s"),
    "segment": segment(SECRET),
    "caveat": Caveat(kind="source_is_old", values=(SECRET,)),
    "check": CheckResult(name="non_empty", passed=False, reason="empty_text", ids=(SECRET,)),
    "payload": ChannelPayload(status="approved", message=SECRET),
    "text": SECRET,
}


@pytest.mark.parametrize("name", LEAKS)
async def test_a_formatter_that_is_handed_no_verdict_says_nothing_of_it(name: str) -> None:
    """It fails, and the error has the type's name, not a word that was in the message."""
    with pytest.raises((TypeError, AttributeError)) as failure:
        await format_verdict(cast("Any", LEAKS[name]), wording=Wording())
    assert SECRET[:12] not in repr(failure.value)


async def test_a_rejection_is_shown_in_configured_words_alone() -> None:
    """Whatever the question and the checks say, on every channel."""
    rejected = Rejected(intent=INTENT, corpus_version=SECRET, checks=())
    wording = Wording(rejected="Not verified.")
    response = await format_verdict(rejected, wording=wording)
    assert response.channel_json == ChannelPayload(status="rejected", message="Not verified.")
    asked_back = Clarification(intent=INTENT, options=("Lunch",))
    assert (await format_verdict(asked_back, wording=wording)).segments == ()
