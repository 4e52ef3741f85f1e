"""Word documents into Markdown."""

import io
from datetime import datetime

import docx
import pytest
from print_shop import with_raw_body

from groundwire.corpus import Document, Source, read_source


def saved(document: docx.document.Document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def read(raw: bytes) -> Document:
    reading = read_source(Source("a.docx", raw))
    assert not reading.problems
    return reading.documents[0]


def test_paragraphs_headings_lists_and_tables_stand_in_their_order() -> None:
    """As Markdown, so that they are cut like it."""
    word = docx.Document()
    word.core_properties.title = "Refund policy"
    word.core_properties.modified = datetime(2024, 5, 6, 7, 8, 9)  # noqa: DTZ001 - as Word stores it
    word.add_heading("Refunds", 1)
    word.add_paragraph("You get back:")
    word.add_paragraph("the price", style="List Bullet")
    word.add_paragraph("the tax", style="List Number")
    table = word.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Plan", "Price", "Solo", "5"], strict=True):
        cell.text = text
    word.add_paragraph("That is all of it, and it holds for every plan that we sell to anyone.")
    document = read(saved(word))
    assert document.text == (
        "# Refunds\n\nYou get back:\n\n- the price\n- the tax\n\n"
        "| Plan | Price |\n| --- | --- |\n| Solo | 5 |\n\n"
        "That is all of it, and it holds for every plan that we sell to anyone."
    )
    assert (document.title, document.modified, document.language) == (
        "Refund policy",
        "2024-05-06T07:08:09+00:00",
        "en",
    )


def test_headers_of_pages_are_left_out() -> None:
    """They are no policy."""
    word = docx.Document()
    word.sections[0].header.paragraphs[0].text = "Acme confidential"
    word.add_paragraph("Words.")
    assert read(saved(word)).text == "Words."


def test_tracked_insertions_are_in_and_deletions_are_out() -> None:
    """What is shown when all changes are taken."""
    word = docx.Document()
    word.add_paragraph("x")
    body = (
        "<w:p><w:r><w:t>Refunds take </w:t></w:r><w:del><w:r><w:delText>9</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>5</w:t></w:r></w:ins><w:r><w:t xml:space='preserve'> days.</w:t></w:r></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    assert read(with_raw_body(saved(word), body)).text == "Refunds take 5 days.\n\nIn a control."


@pytest.mark.parametrize("raw", [b"no zip", b"PK\x03\x04 broken", saved(docx.Document())[:500]])
def test_a_file_that_is_no_word_document_is_named(raw: bytes) -> None:
    """And the rest goes in."""
    reading = read_source(Source("a.docx", raw))
    assert "cannot be opened as a Word document" in reading.problems[0].reason


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a traceback."""
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    reading = read_source(Source("a.docx", b"PK"))
    assert "pip install 'groundwire[documents]'" in reading.problems[0].reason
