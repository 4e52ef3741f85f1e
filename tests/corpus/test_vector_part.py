"""Vectors as a part of a snapshot: computed once for each text, gone with it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from letters import letter_counts
from numpy.typing import NDArray

from groundwire.corpus import (
    Chunking,
    CorpusStore,
    Ingestion,
    Recipe,
    VectorPart,
    embedded_text,
    ingest,
    parts,
)
from groundwire.corpus.vectors import VectorIndex
from groundwire.corpus.versions import history
from groundwire.models import Cached


class Letters:
    """Counts letters; tells what it was asked for, and may give up after so many texts."""

    model_id = "letters"
    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stamina = 10_000

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self.asked) + len(texts) > self.stamina:
            raise KeyboardInterrupt
        self.asked += texts
        rows = letter_counts(texts)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_text(
            f"# T\n\n{name * 8} {name}z.\n\n## Next\n\nMore {name}.\n"
        )
    return folder


@pytest.fixture
def letters() -> Letters:
    return Letters()


def take(docs: Path, root: Path, letters: Letters) -> Ingestion:
    cached = Cached(letters, root.parent / "cache" / "vectors.sqlite")
    return ingest([docs], root, Recipe(Chunking(), parts=(VectorPart(cached),)))


def index_of(root: Path) -> VectorIndex:
    folder = CorpusStore(root).current().part("vectors")
    assert folder is not None
    return VectorIndex.open(folder)


def test_an_edited_paragraph_computes_only_its_own_passages(
    docs: Path, tmp_path: Path, letters: Letters
) -> None:
    """And a moved file none: its passages say what they said."""
    take(docs, tmp_path / "root", letters)
    assert len(letters.asked) == 6
    letters.asked.clear()
    (docs / "a.md").write_text((docs / "a.md").read_text().replace("More a", "Less a"))
    (docs / "b.md").rename(docs / "moved.md")
    done = take(docs, tmp_path / "root", letters)
    assert [text.splitlines()[-1] for text in letters.asked] == ["Less a."]
    assert (done.changes.changed, done.changes.moved) == (("a.md",), (("b.md", "moved.md"),))
    assert len(index_of(tmp_path / "root")) == 6


def test_a_removed_page_is_gone_from_the_vectors_and_their_cache(
    docs: Path, tmp_path: Path, letters: Letters
) -> None:
    """Nothing that was computed of it is left."""
    take(docs, tmp_path / "root", letters)
    (docs / "c.md").unlink()
    take(docs, tmp_path / "root", letters)
    assert len(index_of(tmp_path / "root")) == 4
    with closing(sqlite3.connect(tmp_path / "cache" / "vectors.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (4,)


def test_vectors_that_were_cut_short_are_finished_by_the_next_run(
    docs: Path, tmp_path: Path, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documents answer meanwhile, without; what was computed is not computed again."""
    monkeypatch.setattr(parts, "MOST_AT_ONCE", 0)
    monkeypatch.setattr("groundwire.corpus.embedded.BATCH_PASSAGES", 2)
    letters.stamina = 4
    with pytest.raises(KeyboardInterrupt):
        take(docs, tmp_path / "root", letters)
    first = CorpusStore(tmp_path / "root").current()
    assert (first.counts.documents, dict(first.manifest.parts)) == (3, {})
    letters.stamina = 6
    done = take(docs, tmp_path / "root", letters)
    assert len(letters.asked) == len(set(letters.asked)) == 6
    assert [one.version for one in history(tmp_path / "root")] == [first.version, done.version]
    assert len(index_of(tmp_path / "root")) == 6


def test_a_vector_is_found_under_the_ordinal_of_its_passage(
    docs: Path, tmp_path: Path, letters: Letters
) -> None:
    """Vectors and database number the passages alike, also after pages before it are gone."""
    take(docs, tmp_path / "root", letters)
    (docs / "a.md").unlink()
    take(docs, tmp_path / "root", letters)
    snapshot = CorpusStore(tmp_path / "root").current()
    for ordinal in range(snapshot.counts.passages):
        ((document, passage),) = snapshot.at([ordinal])
        vector = letters.embed([embedded_text(document, passage)])[0]
        assert index_of(tmp_path / "root").search(vector, ["public"], 1)[0].ordinal == ordinal
