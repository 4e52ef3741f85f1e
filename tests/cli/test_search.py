"""`groundwire search`: the retrieve agent's passages, and why those, for a person, a browser, a program."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from groundwire.cli.markup import tag, together
from groundwire.cli.page import POLICY
from groundwire.wiring import build_pipeline

from .conftest import Commands

ATTACK = '<script>alert("x")</script> & <img src=https://evil.example/x.png onerror=alert(1)>'


@pytest.fixture
def docs(nothing_up: Commands) -> Path:
    folder = nothing_up.home.folder / "docs"
    folder.mkdir()
    (folder / "refunds.md").write_text(
        f"# Refunds {ATTACK}\n\nA refund takes 5 days. {ATTACK}\n\n## Late\n\nNo refund is late.\n"
    )
    (folder / "prices.md").write_text("# Prices\n\nAnnual plans cost 90 euros, refunds nothing.\n")
    (folder / "staff.md").write_text("---\nlabels: [staff]\n---\n# Refunds for staff\n\nRefund!\n")
    return folder


@pytest.fixture
def by_default(nothing_up: Commands) -> Commands:
    """Commands that nobody tells a profile: `default` has every signal and every part of a score."""
    nothing_up.unset("GROUNDWIRE_PROFILE")
    return nothing_up


class Page(HTMLParser):
    """The elements of a page, what they refer to, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


async def test_the_passages_are_those_that_the_agent_retrieves(
    by_default: Commands, docs: Path
) -> None:
    """The same code, so the same order and scores, up to the profile's k."""
    pipeline = build_pipeline("default", docs)
    context = (await pipeline.run("How long does a refund take?")).context
    assert context is not None
    told = context.model_dump(mode="json")
    from asyncio import to_thread

    done = await to_thread(
        by_default, "search", "How long does a refund take?", "--docs", docs, "--json"
    )
    for one, passage in zip(done.json["passages"], told["passages"], strict=False):
        assert passage == {name: one[name] for name in passage}
    assert (done.code, done.json["corpus_version"]) == (0, context.corpus_version)
    assert done.json["signals"] == list(context.signals)


def test_json_tells_every_score_rank_and_part(by_default: Commands, docs: Path) -> None:
    """What the terminal shows with --explain, without being asked to."""
    found = by_default("search", "refund", "--docs", docs, "--json").json
    assert (found["profile"], found["labels"], found["k"]) == ("default", ["public"], 3)
    best: dict[str, Any] = found["passages"][0]
    assert {"keyword_rank", "vector_rank", "hybrid_rank", "final_rank", "moved"} <= best.keys()
    assert sum(best["fused"].values()) == pytest.approx(best["hybrid_score"])
    told = sum(one["points"] for one in best["features"].values())
    assert told == pytest.approx(best["rerank_score"])


def test_explain_shows_bars_parts_and_the_settings(by_default: Commands, docs: Path) -> None:
    """For a person; the text of a document is no markup of the terminal either."""
    (docs / "odd.md").write_text("# [red]Refund[/red]\n\nA [bold]refund[/] of refunds.\n")
    done = by_default("search", "annual refund", "--docs", docs, "--explain")
    assert done.code == 0
    for word in ("keyword", "vector", "fusion", "rerank", "█", "profile default", "alpha"):
        assert word in done.out
    assert "[red]Refund[/red]" in done.out
    plain = by_default("search", "annual refund", "--docs", docs)
    assert "fusion" not in plain.out
    assert "Refund" in plain.out


def test_a_line_marks_what_an_answer_is_written_from(nothing_up: Commands, docs: Path) -> None:
    """More is shown than is kept."""
    (docs / "more.md").write_text(
        "\n\n".join(f"## Part {at}\n\nRefund {at}." + " x" * 200 for at in range(6))
    )
    assert "written from the first 3" in nothing_up("search", "refund", "--docs", docs).out
    few = nothing_up("search", "refund", "--docs", docs, "--k", "2", "--json").json
    assert len(few["passages"]) == 2


def test_a_page_shows_a_document_s_markup_as_text(nothing_up: Commands, docs: Path) -> None:
    """A script in a title, a text or the question is read, never run; nothing is loaded."""
    (docs / "attack.txt").write_text(f"A refund of text. {ATTACK}")
    path = nothing_up.home.folder / "why.html"
    asked = f"refund {ATTACK}"
    assert nothing_up("search", asked, "--docs", docs, "--html", path).code == 0
    html = path.read_text()
    page = Page(html)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "".join(page.texts).count('<script>alert("x")</script>') >= 3
    names = {name for name, _ in page.attributes}
    assert not names & {"src", "href", "onerror", "onload", "action"}
    assert not re.search(r"url\(|@import", html)
    assert ("content", POLICY) in page.attributes


def test_a_page_has_a_bar_for_each_signal(by_default: Commands, docs: Path) -> None:
    """With score and rank, for each passage."""
    path = by_default.home.folder / "why.html"
    found = by_default("search", "refund", "--docs", docs, "--html", path, "--json").json
    html = path.read_text()
    assert html.count('class="bar"') == 4 * len(found["passages"])
    assert f"{found['passages'][0]['rerank_score']:.3f}" in html
    moved = sum(one["moved"] is not None for one in found["passages"])
    assert html.count('class="badge') == moved


def test_labels_open_documents(nothing_up: Commands, docs: Path) -> None:
    """Those named instead of `public`."""
    found = nothing_up("search", "refund", "--docs", docs, "--label", "staff", "--json").json
    assert [one["doc_id"] for one in found["passages"]] == ["staff.md"]
    both = ["--label", "staff", "--label", "public"]
    found = nothing_up("search", "refund", "--docs", docs, *both, "--json").json
    assert {one["doc_id"] for one in found["passages"]} >= {"staff.md", "refunds.md"}


@pytest.mark.parametrize("question", ["", "the of and", "🙂", "xylophone quartz"])
def test_nothing_found_is_said_and_is_no_failure(
    nothing_up: Commands, docs: Path, question: str
) -> None:
    """In every form."""
    path = nothing_up.home.folder / "why.html"
    done = nothing_up("search", question, "--docs", docs, "--profile", "fast", "--html", path)
    assert (done.code, "nothing found" in done.out) == (0, True)
    assert "Nothing found" in path.read_text()


def test_the_ingested_corpus_is_searched_by_default(nothing_up: Commands, docs: Path) -> None:
    """And a corpus elsewhere by its root."""
    nothing_up("ingest", docs)
    here = nothing_up("search", "refund", "--json").json
    root = nothing_up.home.path / "corpus"
    assert nothing_up("search", "refund", "--docs", root, "--json").json == here
    assert here["passages"][0]["doc_id"] == "refunds.md"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["search", "x"], "groundwire ingest"),
        (["search", "x", "--docs", "no/such"], "no/such"),
        (["search", "x", "--docs", "docs", "--profile", "defualt"], "default"),
        (["search", "x", "--docs", "docs", "--k", "0"], "--k"),
        (["search", "x" * 8_001, "--docs", "docs"], "text"),
        (["search", "x", "--docs", "docs", "--html", "no/such/page.html"], "cannot be written"),
        (["search"], "question"),
    ],
)
def test_what_makes_no_sense_exits_2(
    nothing_up: Commands, docs: Path, words: list[str], told: str
) -> None:
    """With a line that says what."""
    done = nothing_up(*words)
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert told in " ".join(done.err.split())


@pytest.mark.parametrize(
    "text", ["<b>", '"', "'", "&amp;", "</title>", "\x00", "\ud83e", "a\x1b[0m"]
)
def test_markup_escapes_what_it_is_given(text: str) -> None:
    """As a child and as an attribute; what HTML can't hold is replaced."""
    made = together(tag("p", text, class_=text), text)
    page = Page(made)
    shown = text.translate({0: "�", 0x1B: "�", 0xD83E: "�"})
    assert page.tags == {"p"}
    assert page.attributes == [("class", shown)]
    assert "".join(page.texts) == shown * 2
    made.encode()
