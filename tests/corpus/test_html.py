"""HTML into the page's own text."""

import pytest

from groundwire.corpus import Chunking, Document, Source, chunk, read_source
from groundwire.corpus.reading.html import DEEPEST

PAGE = """<!doctype html><html lang="en-GB"><head><title>Refunds</title>
<meta property="article:published_time" content="2024-02-03T10:00:00+00:00">
<style>p { color: red }</style><script>var secret = "script words";</script></head>
<body><header><a href="/">Acme home</a></header>
<nav><ul><li>Pricing</li><li>Sign in</li></ul></nav>
<main><h1>Refunds &amp; returns</h1>
<p>Annual plans are re&shy;funded in   <b>full</b> within
<a href="x">45 days</a>.<br>Monthly ones are not.</p>
<h2>How</h2><ul><li>Write to us<ul><li>by mail</li></ul></li><li>Wait</li></ul>
<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Solo</td><td>5 | 6</td></tr></table>
<pre>curl -X POST
  /refunds</pre>
<aside>Related: taxes</aside></main>
<div class="cookie-banner">We use cookies</div>
<footer>© Acme</footer></body></html>"""


def read(text: str | bytes, name: str = "a.html") -> Document:
    raw = text if isinstance(text, bytes) else text.encode()
    reading = read_source(Source(name, raw))
    assert not reading.problems
    return reading.documents[0]


def test_a_page_is_its_main_part_as_markdown() -> None:
    """Navigation, banners, scripts and styles are nothing to quote as policy."""
    document = read(PAGE)
    assert document.text == (
        "# Refunds & returns\n\nAnnual plans are refunded in full within 45 days.\nMonthly ones are not.\n\n"
        "## How\n\n- Write to us\n  - by mail\n- Wait\n\n"
        "| Plan | Price |\n| --- | --- |\n| Solo | 5 \\| 6 |\n\n```\ncurl -X POST\n  /refunds\n```"
    )
    assert (document.title, document.language) == ("Refunds", "en")
    assert document.published == "2024-02-03T10:00:00+00:00"


def test_headings_of_a_page_lead_to_its_passages() -> None:
    """As those of Markdown do."""
    document = chunk(read(PAGE), Chunking())
    assert [p.heading_path for p in document.passages] == [
        ("Refunds & returns",),
        ("Refunds & returns", "How"),
    ]


def test_a_page_without_a_main_part_keeps_all_but_the_sites_own_parts() -> None:
    """A header inside an article is the article's."""
    document = read(
        "<body><header>Site</header><div>Words.</div><p>More.</p><footer>Foot</footer>"
        "<div role=navigation>Menu</div></body>"
    )
    assert document.text == "Words.\n\nMore."
    document = read("<article><header><h1>Title</h1></header><p>Words.</p></article><p>Outside</p>")
    assert document.text == "# Title\n\nWords."


def test_a_page_of_navigation_alone_is_read_whole() -> None:
    """Better an index than nothing."""
    assert read("<body><nav><p>All policies</p></nav></body>").text == "All policies"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('<meta charset="windows-1252"><p>caf\xe9'.encode("cp1252"), "café"),
        (
            '<meta http-equiv=content-type content="text/html; charset=shift_jis"><p>返金'.encode(
                "shift_jis"
            ),
            "返金",
        ),
        ("<p>naïve".encode("utf-16"), "naïve"),
        ("<p>nai\u0308ve".encode(), "naïve"),
    ],
)
def test_encodings_are_those_that_pages_declare(raw: bytes, expected: str) -> None:
    """And the text is in one Unicode form."""
    assert read(raw).text == expected


def test_a_page_that_lays_out_by_tables_keeps_its_words() -> None:
    """Cells that hold tables or headings are no data."""
    document = read(
        "<table><tr><td><h2>One</h2>Words.</td><td><table><tr><td>a</td></tr></table></td></tr></table>"
    )
    assert document.text.startswith("## One\n\nWords.")
    assert "a" in document.text


@pytest.mark.parametrize("opened", ["<div>", "<b>", "<ul><li>"])
def test_elements_nested_without_end_are_refused(opened: str) -> None:
    """Before anything is written by recursion; what is nested as deep as may be is read."""
    [refused] = read_source(Source("a.html", (opened * 3_000 + "x").encode())).problems
    assert "nested" in refused.reason
    deep = opened * ((DEEPEST - 5) // opened.count("<")) + "words"
    assert "words" in read(deep).text
