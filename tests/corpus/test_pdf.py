"""PDF into text that can be found and quoted."""

import os
from pathlib import Path

import pytest
from print_shop import pdf

from groundwire.corpus import Chunking, Document, Place, Source, chunk, read_source
from groundwire.corpus.reading.glyphs import glyph_fonts, letters
from groundwire.corpus.reading.printed import PrintedLine, running_text

ROOT = Path(__file__).resolve().parents[2]
PRINTED = ROOT / os.environ.get("GROUNDWIRE_DATA", "../shared/data") / "basecamp-pdf"


def read(raw: bytes, name: str = "a.pdf") -> Document:
    reading = read_source(Source(name, raw))
    assert not reading.problems
    return reading.documents[0]


def lines(*texts: str) -> list[PrintedLine]:
    return [PrintedLine(text, 0, 100, -12 * n, -12 * n + 10) for n, text in enumerate(texts)]


def test_ligatures_and_broken_words_are_found_as_they_are_spelt() -> None:
    """ "confidential" and "refund" are words, however they were set."""
    document = read(
        pdf(
            [
                [
                    "All of it is con\x1fdential, and so is every re-",
                    "fund that we make on any day of the year.",
                ]
            ]
        )
    )
    assert document.text == (
        "All of it is confidential, and so is every refund that we make on any day of the year."
    )


@pytest.mark.parametrize("mark", ["-", "\u00ad", "\ufffe", "\u2010"])
def test_a_word_broken_by_any_hyphen_is_put_together(mark: str) -> None:
    """Soft, hard, or PDFium's own sign for one."""
    assert running_text([lines(f"A re{mark}", "fund.")])[0] == "A refund."


def test_a_hyphen_that_the_word_has_elsewhere_stays() -> None:
    """A compound isn't glued together."""
    text, _ = running_text([lines("A third-party says it to a third-", "party that listens.")])
    assert text == "A third-party says it to a third-party that listens."


def test_control_characters_and_soft_hyphens_are_gone() -> None:
    """They are never typed in a question."""
    assert (
        running_text([lines("re\u00adfund\0 and \x07con\ufb01dential")])[0]
        == "refund and confidential"
    )


def test_what_every_page_repeats_is_left_out_and_pages_can_be_cited() -> None:
    """Headers, footers, page numbers; a sentence goes on over the page."""
    bodies = [
        "The first page says that refunds",
        "are made within thirty days.",
        "And that is the end.",
    ]
    pages = [
        ["Acme confidential", "", body, "", f"Page {n} of 3"] for n, body in enumerate(bodies, 1)
    ]
    document = read(pdf(pages, title="Our policy"))
    assert document.text == (
        "The first page says that refunds are made within thirty days.\n\nAnd that is the end."
    )
    assert document.place(document.text.index("first")) == Place("page", 1)
    assert document.place(document.text.index("thirty")) == Place("page", 2)
    assert document.place(document.text.index("the end")) == Place("page", 3)
    assert (document.title, document.published, document.markdown) == (
        "Our policy",
        "2024-01-31",
        False,
    )


def test_paragraphs_are_told_by_their_distance() -> None:
    """A wider gap than the usual one begins a paragraph; an item begins a line."""
    full = "This line is long enough to reach the margin of the page there"
    other = "And another one says so, too, at about the same length as it is"
    document = read(pdf([[full, "and goes on.", "", other, "1. an item"]]))
    assert document.text == f"{full} and goes on.\n\n{other}\n1. an item"


def test_a_font_without_letters_is_read_where_its_glyphs_are_known() -> None:
    """Glyph numbers of Times New Roman and Arial have an order; others are anyone's guess."""
    words = "This is what the printed page of the policy says about a refund."
    codes = "".join(chr(ord(c) - 29) for c in words)
    assert glyph_fonts({"ABCDEF+TimesNewRomanPSMT": codes, "Unknown": codes}) == {
        "ABCDEF+TimesNewRomanPSMT"
    }
    font = "ABCDEF+TimesNewRomanPSMT"
    assert letters(codes, [font] * len(codes), frozenset({font})) == words
    assert letters("\xb3\xb4\xb6", [font] * 3, frozenset({font})) == "“”’"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"%PDF-1.4 and no more", "cannot be opened as a PDF"),
        (pdf([[]]), "has no text"),
        (pdf([["\x01\x02\x03\x04 \x05\x06"]]), "fonts don't say"),
    ],
    ids=["broken", "pictures", "glyphs"],
)
def test_a_pdf_that_cannot_be_read_is_named(raw: bytes, reason: str) -> None:
    """With what can be done about it."""
    reading = read_source(Source("a.pdf", raw))
    assert not reading.documents
    assert reason in reading.problems[0].reason


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a traceback."""
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)
    reading = read_source(Source("a.pdf", b"%PDF"))
    assert "pip install 'groundwire[documents]'" in reading.problems[0].reason


@pytest.mark.skipif(not PRINTED.is_dir(), reason=f"no PDFs at {PRINTED}: set GROUNDWIRE_DATA")
@pytest.mark.parametrize(
    ("name", "pages", "quotes"),
    [
        (
            "Basecamp_Data_Processing_Addendum_v201805.pdf",
            26,
            [
                "This DPA has been pre-signed on behalf of Basecamp.",
                "the confidentiality",
                "DATA PROCESSING TERMS",
            ],
        ),
        (
            "Basecamp_Data_Processing_Addendum_v202212.pdf",
            41,
            [
                "37signals shall treat Personal Data as confidential information and shall only Process Personal Data",
                "SCHEDULE 2",
            ],
        ),
    ],
)
def test_real_contracts_read_well(name: str, pages: int, quotes: list[str]) -> None:
    """One of them has fonts that name no letters. Every page is there, and every word in a passage."""
    document = chunk(read((PRINTED / name).read_bytes(), name), Chunking())
    assert all(quote in document.text for quote in quotes)
    assert document.place(len(document.text) - 1) == Place("page", pages)
    assert document.language == "en"
    covered = "".join(document.text_of(passage) for passage in document.passages)
    assert "".join(covered.split()) == "".join(document.text.split())
