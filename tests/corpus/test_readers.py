"""Files into documents: what goes in, what doesn't, and why."""

import json
import os
from pathlib import Path

import pytest

from contracts import Invalid
from groundwire.corpus import Chunking, Recipe, Snapshot, in_memory, ingest


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
    (tmp_path / "latin.txt").write_bytes("caf\u00e9".encode("latin-1"))
    (tmp_path / "blank.md").write_text("---\ntitle: x\n---\n \n")
    (tmp_path / "labels.md").write_text("---\nlabels: {a: b}\n---\nSecret.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.md").write_text("hidden")
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling.md")
    snapshot, problems, ignored = take(tmp_path)
    assert set(snapshot.documents) == {"sub/good.md"}
    assert snapshot.documents["sub/good.md"].text == "Good\ntext."
    assert set(problems) == {"binary.md", "latin.txt", "blank.md", "labels.md", "dangling.md"}
    assert "NUL" in problems["binary.md"]
    assert "UTF-8" in problems["latin.txt"]
    assert "labels" in problems["labels.md"]
    assert ignored == ("picture.png",)


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
