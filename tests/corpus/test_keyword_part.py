"""The keyword index as a part of a snapshot: what is in it, and what is gone from it."""

import random
from pathlib import Path

import pytest

from groundwire.corpus import Chunking, CorpusStore, KeywordPart, Recipe, Snapshot, ingest
from groundwire.corpus.keyword import KeywordIndex

RECIPE = Recipe(Chunking(), parts=(KeywordPart(least_passages=2),))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, animal in (("a", "fox"), ("b", "badger"), ("c", "fox and badger")):
        (folder / f"{name}.md").write_text(f"# Page {name}\n\nAbout a {animal}.\n")
    return folder


def index_of(snapshot: Snapshot) -> KeywordIndex:
    folder = snapshot.part("keyword")
    assert folder is not None
    return KeywordIndex.open(folder)


def found(root: Path, text: str) -> list[tuple[str, float]]:
    snapshot = CorpusStore(root).current()
    hits = index_of(snapshot).search(text, ["public"], 10)
    documents = [document for document, _ in snapshot.at([hit.ordinal for hit in hits])]
    return [(d.doc_id, hit.score) for d, hit in zip(documents, hits, strict=True)]


def test_what_is_found_is_the_passage_of_its_ordinal(docs: Path, tmp_path: Path) -> None:
    """Index and database number the passages alike."""
    ingest([docs], tmp_path / "root", RECIPE)
    assert {doc_id for doc_id, _ in found(tmp_path / "root", "badger")} == {"b.md", "c.md"}


def test_a_removed_page_is_gone_from_the_index(docs: Path, tmp_path: Path) -> None:
    """From hits, statistics and bytes: the rest scores as if it had never been there."""
    root = tmp_path / "root"
    (docs / "b.md").write_text("About a xyzzy badger, badger, badger.\n")
    ingest([docs], root, RECIPE)
    (docs / "b.md").unlink()
    version = ingest([docs], root, RECIPE).version
    ingest([docs], tmp_path / "fresh", RECIPE)
    assert found(root, "xyzzy") == []
    assert found(root, "badger fox") == found(tmp_path / "fresh", "badger fox")
    for path in (root / "snapshots" / version).rglob("*"):
        assert path.is_dir() or b"xyzzy" not in path.read_bytes(), path


def test_edits_in_any_order_end_in_the_answers_of_one_ingestion(docs: Path, tmp_path: Path) -> None:
    """The same hits with the same scores, to the last bit."""
    chance, words = random.Random(7), ["fox", "badger", "heron", "otter"]
    for step in range(60):
        page = docs / f"{chance.choice('abcdefgh')}.md"
        if page.exists() and chance.random() < 0.3 and len(list(docs.iterdir())) > 3:
            page.unlink()
        else:
            labels = chance.choice(["public", "staff"])
            text = f"# Page {step % 7}\n\nStep {step}: {' '.join(chance.choices(words, k=6))}.\n"
            page.write_text(f"---\nlabels: [{labels}]\n---\n{text}")
        if step % 5 == 0:
            ingest([docs], tmp_path / "root", RECIPE)
    stepped = ingest([docs], tmp_path / "root", RECIPE)
    assert ingest([docs], tmp_path / "fresh", RECIPE).version == stepped.version
    keyword = Path("snapshots") / stepped.version / "keyword"
    for path in (tmp_path / "root" / keyword).iterdir():
        assert path.read_bytes() == (tmp_path / "fresh" / keyword / path.name).read_bytes(), path
    for text in (*words, "fox heron", "otter badger step"):
        assert found(tmp_path / "root", text) == found(tmp_path / "fresh", text)
