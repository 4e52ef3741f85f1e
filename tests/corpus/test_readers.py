"""Files into documents: what goes in, what doesn't, and why."""

import json
import os
from pathlib import Path

import pytest

from contracts import Invalid
from groundwire.corpus import (
    Chunking,
    Place,
    Recipe,
    Snapshot,
    Source,
    in_memory,
    ingest,
    read_source,
)


def take(*paths: Path) -> tuple[Snapshot, dict[str, str], tuple[str, ...]]:
    snapshot, ingestion = in_memory(paths, Chunking())
    return snapshot, {p.source: p.reason for p in ingestion.problems}, ingestion.ignored


def test_front_matter_names_the_page_and_is_not_quoted(tmp_path: Path) -> None:
    """Its title is read; its text is no part of the document."""
    page = '---\ntitle: "Our terms"\nlabels: [staff, public]\n---\n\n# Heading\n\nText.\n'
    (tmp_path / "terms.md").write_text(page)
    snapshot, _, _ = take(tmp_path)
    document = snapshot.documents["terms.md"]
    assert (document.title, document.labels) == ("Our terms", ("staff", "public"))
    assert document.text == "\n# Heading\n\nText.\n"


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("a.md", "# From *heading* #\n\nText.", "From *heading*"),
        ("b.md", "Text only.", "b"),
        ("c.txt", "# Not a heading in plain text", "c"),
        ("d.md", "---\nnot front matter", "d"),
    ],
)
def test_a_page_without_front_matter_is_named_by_its_heading_or_file(
    tmp_path: Path, name: str, content: str, title: str
) -> None:
    """Every document has a title."""
    (tmp_path / name).write_text(content)
    snapshot, _, _ = take(tmp_path)
    assert snapshot.documents[name].title == title


def test_what_cannot_be_read_is_named_and_the_rest_goes_in(tmp_path: Path) -> None:
    """One bad file never stops an ingestion, and is never silently left out."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "good.md").write_bytes(b"\xef\xbb\xbfGood\r\ntext.")
    (tmp_path / "binary.md").write_bytes(b"\x00\x01\x02")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "blank.md").write_text("---\ntitle: x\n---\n \n")
    (tmp_path / "labels.md").write_text("---\nlabels: {a: b}\n---\nSecret.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.md").write_text("hidden")
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling.md")
    snapshot, problems, ignored = take(tmp_path)
    assert set(snapshot.documents) == {"sub/good.md"}
    assert snapshot.documents["sub/good.md"].text == "Good\ntext."
    assert set(problems) == {"binary.md", "empty.txt", "blank.md", "labels.md", "dangling.md"}
    assert "NUL" in problems["binary.md"]
    assert problems["empty.txt"] == "is empty"
    assert "labels" in problems["labels.md"]
    assert ignored == ("picture.png",)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Das kostet fünf Euro. Die Gebühr fällt jährlich an.".encode("latin-1"), "fünf Euro"),
        (
            "返金は三十日以内に可能です。申請はメールで送ってください。".encode("shift_jis"),
            "三十日以内",
        ),
        (
            "Возврат возможен в течение тридцати дней после оплаты.".encode("koi8-r"),
            "тридцати дней",
        ),
        ("naïve".encode("utf-16"), "naïve"),
        ("naïve".encode("utf-32"), "naïve"),
        ("nai\u0308ve re\u00adfund of\ufb01ce".encode(), "naïve refund office"),
        (b"\xef\xbb\xbfOne\r\nTwo\rThree", "One\nTwo\nThree"),
    ],
    ids=["latin-1", "shift-jis", "koi8-r", "utf-16", "utf-32", "nfd", "bom and crlf"],
)
def test_encodings_are_detected_and_the_text_is_in_one_form(raw: bytes, text: str) -> None:
    """NFC, one kind of line end, no soft hyphens, ligatures as letters."""
    assert text in read_source(Source("a.txt", raw)).documents[0].text


def test_front_matter_tells_dates_and_language() -> None:
    """In YAML or TOML, by the keys that site generators use."""
    yaml = "---\ndate: 2024-01-02\nlast_modified: 2024-03-04T05:06:07Z\nlang: de-AT\n---\nText.\n"
    toml = '+++\ndate = 2024-01-02\nlastmod = 2024-03-04T05:06:07Z\nlang = "de"\nlabels = ["a", "b"]\n+++\nText.\n'
    for page in (yaml, toml):
        document = read_source(Source("a.md", page.encode())).documents[0]
        dates = (document.published, document.modified)
        assert dates == ("2024-01-02", "2024-03-04T05:06:07+00:00")
        assert document.language == "de"
        assert document.text == "Text.\n"


def test_front_matter_that_cannot_be_read_is_said_and_the_page_goes_in() -> None:
    """Unless it speaks of labels: then the page might not be public."""
    reading = read_source(Source("a.md", b"---\ntitle: One: two\n---\nText."))
    assert reading.documents[0].text == "Text."
    assert "front matter can't be read" in reading.problems[0].reason
    reading = read_source(Source("a.md", b"---\ntitle: One: two\nlabels: [staff]\n---\nText."))
    assert not reading.documents


def test_labels_stay_the_words_that_they_are() -> None:
    """`no` is a country, not an untruth."""
    reading = read_source(Source("a.md", b"---\nlabels: [no, 2024]\n---\nText."))
    assert reading.documents[0].labels == ("no", "2024")


def test_what_a_browser_does_not_show_is_not_quoted() -> None:
    """Comments, scripts and styles inside Markdown; lines stay where they were, and code stays whole."""
    page = (
        "One <!-- secret --> two.\n\n<script>\nsecret()\n</script>\n\n"
        "```\n<!-- shown -->\n```\n\n`<!-- shown, too -->` Last.\n"
    )
    document = read_source(Source("a.md", page.encode())).documents[0]
    assert "secret" not in document.text
    assert document.text.count("<!-- shown") == 2
    assert document.place(document.text.index("Last")) == Place("line", 11)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Rückerstattungen sind innerhalb von dreißig Tagen nach dem Kauf möglich.", "de"),
        ("Los reembolsos son posibles durante los treinta días posteriores al pago.", "es"),
        (
            "返金は三十日以内に可能です。申請はメールで送ってください。領収書も添付してください。よろしくお願いします。",
            "ja",
        ),
        ("Refund?", None),
        ("| a | b |\n|---|---|\n| 1 | 2 |", None),
    ],
)
def test_the_language_is_detected_where_a_text_is_long_enough(
    text: str, language: str | None
) -> None:
    """And left open where it would be a guess."""
    assert read_source(Source("a.md", text.encode())).documents[0].language == language


def test_a_large_file_goes_in_like_any_other() -> None:
    """50 MB of text, every passage of it where it says."""
    words = b"All refunds are made within thirty days of the day on which we hear of it.\n\n"
    reading = read_source(Source("big.txt", words * (50_000_000 // len(words))))
    assert len(reading.documents[0].text) > 49_000_000


def test_several_folders_keep_their_documents_apart(tmp_path: Path) -> None:
    """The same file name in two folders is two documents."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.md").write_text(f"Page {name}.")
    snapshot, problems, _ = take(tmp_path / "one", tmp_path / "two")
    assert set(snapshot.documents) == {"one/index.md", "two/index.md"}
    assert not problems


def test_ready_passages_keep_their_ids_and_share_documents(tmp_path: Path) -> None:
    """Offsets point into the document that the passages of one doc_id make up."""
    lines = [
        {"passage_id": "a1", "text": "First\r\nline.", "doc_id": "a", "title": "A"},
        {"passage_id": "b1", "text": "Alone.", "metadata": {"source": "b.html", "labels": ["x"]}},
        {"passage_id": "a2", "text": "Second.", "doc_id": "a", "rank": 7},
    ]
    path = tmp_path / "ready.jsonl"
    path.write_text("\n\n".join(json.dumps(line) for line in lines))
    snapshot, problems, _ = take(path)
    assert not problems
    document = snapshot.documents["a"]
    assert [document.text_of(p) for p in document.passages] == ["First\nline.", "Second."]
    assert snapshot.documents["b1"].labels == ("x",)
    assert snapshot.documents["b1"].source == "b.html"


def test_a_bad_line_is_named_by_its_number(tmp_path: Path) -> None:
    """Duplicates, wrong types, lone surrogates, mixed labels: said, and left out."""
    path = tmp_path / "ready.jsonl"
    path.write_text(
        "\n".join(
            [
                '{"passage_id": "p", "text": "Fine.", "doc_id": "d"}',
                "{",
                "[]",
                '{"passage_id": "p", "text": "Again."}',
                '{"passage_id": "q"}',
                '{"passage_id": "r", "text": "\\ud800"}',
                '{"passage_id": "s", "text": "Hidden.", "doc_id": "d", "labels": ["staff"]}',
                '{"passage_id": "t", "text": "Hidden.", "labels": "staff"}',
            ]
        )
    )
    snapshot, problems, _ = take(path)
    assert [passage.passage_id for _, passage in snapshot.passages] == ["p"]
    assert set(problems) == {f"ready.jsonl:{n}" for n in range(2, 9)}


def test_nothing_to_ingest_is_an_error_that_says_why(tmp_path: Path) -> None:
    """An empty corpus never replaces a full one."""
    (tmp_path / "x.md").write_bytes(b"\0")
    with pytest.raises(Invalid, match=r"no documents to ingest.*x\.md: holds NUL"):
        ingest([tmp_path], tmp_path / "root", Recipe(Chunking()))
    with pytest.raises(Invalid, match="no such file"):
        ingest([tmp_path / "missing"], tmp_path / "root", Recipe(Chunking()))
