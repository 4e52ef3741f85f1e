"""Ingestion in steps: what didn't change isn't read again, and the steps leave no trace."""

import os
import random
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from groundwire.corpus import (
    Changes,
    Chunking,
    CorpusStore,
    Ingestion,
    Recipe,
    Snapshot,
    current_version,
    dry_run,
    in_memory,
    ingest,
    reading,
)

RECIPE = Recipe(Chunking(size=80))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_text(f"# Page {name}\n\nOnly {name} says this.\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def take(docs: Path, root: Path) -> Ingestion:
    return ingest([docs], root, RECIPE)


def all_of(snapshot: Snapshot) -> object:
    return (
        snapshot.version,
        list(snapshot.documents.stream()),
        [snapshot.at([ordinal])[0][1] for ordinal in range(snapshot.counts.passages)],
        snapshot.labels,
    )


@pytest.fixture
def read_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources that are read from now on."""
    names: list[str] = []

    def read(source: reading.Source) -> reading.Reading:
        names.append(source.name)
        return reading.read_source(source)

    monkeypatch.setattr(import_module("groundwire.corpus.ingest"), "read_source", read)
    return names


def test_a_second_run_reads_and_writes_nothing(
    docs: Path, root: Path, read_names: list[str]
) -> None:
    """The same bytes are the same documents, whatever their times say."""
    first = take(docs, root)
    read_names.clear()
    files = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    os.utime(docs / "a.md", (1, 1))
    second = take(docs, root)
    assert (second.is_new, second.version, second.changes) == (
        False,
        first.version,
        Changes(unchanged=3),
    )
    assert read_names == []
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert {path: time for path, time in after.items() if path.name != "ingest.lock"} == {
        path: time for path, time in files.items() if path.name != "ingest.lock"
    }


def test_only_what_changed_is_read(docs: Path, root: Path, read_names: list[str]) -> None:
    """One page edited, one new: two are read, and the answer is that of all."""
    take(docs, root)
    read_names.clear()
    (docs / "a.md").write_text("# Page a\n\nSomething else.\n")
    (docs / "aa.md").write_text("New.")
    done = take(docs, root)
    assert read_names == ["a.md", "aa.md"]
    assert done.changes == Changes(added=("aa.md",), changed=("a.md",), unchanged=2)
    assert (done.documents, done.is_new) == (4, True)


def test_a_moved_file_is_told_as_moved(docs: Path, root: Path) -> None:
    """The same bytes under another name; its passages keep their words and places."""
    take(docs, root)
    before = CorpusStore(root).current().documents["b.md"]
    (docs / "sub").mkdir()
    (docs / "b.md").rename(docs / "sub" / "renamed.md")
    assert take(docs, root).changes == Changes(moved=(("b.md", "sub/renamed.md"),), unchanged=2)
    after = CorpusStore(root).current().documents["sub/renamed.md"]
    assert [(p.char_start, p.char_end) for p in after.passages] == [
        (p.char_start, p.char_end) for p in before.passages
    ]
    assert "b.md" not in CorpusStore(root).current().documents


def test_a_removed_file_is_gone(docs: Path, root: Path) -> None:
    """From the documents, the passages, the labels and every byte of the snapshot."""
    (docs / "b.md").write_text("---\nlabels: [staff]\n---\nA secret: xyzzy.\n")
    take(docs, root)
    (docs / "b.md").unlink()
    done = take(docs, root)
    assert done.changes.removed == ("b.md",)
    snapshot = CorpusStore(root).current()
    assert list(snapshot.documents) == ["a.md", "c.md"]
    assert {document.doc_id for document, _ in snapshot.passages} == {"a.md", "c.md"}
    assert snapshot.labels == {"public"}
    folder = root / "snapshots" / done.version
    for path in [*folder.rglob("*"), *root.glob("cache/**/*")]:
        assert path.is_dir() or b"xyzzy" not in path.read_bytes(), path


def test_a_page_whose_id_was_taken_comes_in_when_the_id_is_free(tmp_path: Path, root: Path) -> None:
    """What another source kept out is looked at again, though its own file didn't change."""
    for name in ("one", "two"):
        line = '{"passage_id": "p", "doc_id": "d", "text": "From %s."}'
        (tmp_path / f"{name}.jsonl").write_text(line % name)
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    first = ingest(paths, root, RECIPE)
    assert [(p.source, p.reason) for p in first.problems] == [
        ("two.jsonl", "another document has the id 'd'")
    ]
    assert [p.source for p in ingest(paths, root, RECIPE).problems] == ["two.jsonl"]
    (tmp_path / "one.jsonl").write_text('{"passage_id": "q", "text": "Other."}')
    assert ingest(paths, root, RECIPE).problems == ()
    assert CorpusStore(root).current().documents["d"].text == "From two."


def test_problems_are_told_again_though_nothing_is_read_again(docs: Path, root: Path) -> None:
    """A file that can't go in is named by every run, until it is mended."""
    (docs / "binary.md").write_bytes(b"\0\1")
    (docs / "empty.md").write_bytes(b"")
    first, second = take(docs, root), take(docs, root)
    assert {problem.source for problem in first.problems} == {"binary.md", "empty.md"}
    assert second.problems == first.problems
    assert not second.is_new


def test_another_way_of_cutting_reads_everything_again(docs: Path, root: Path) -> None:
    """Nothing of a snapshot that was cut otherwise is kept."""
    take(docs, root)
    done = ingest([docs], root, Recipe(Chunking(size=20)))
    assert done.changes == Changes(changed=("a.md", "b.md", "c.md"))
    assert done.version == in_memory([docs], Chunking(size=20))[0].version


def test_labels_of_a_run_are_for_those_that_have_none(docs: Path, root: Path) -> None:
    """A page's own labels stand nearer to it than those of the command."""
    (docs / "a.md").write_text("---\nlabels: [legal]\n---\nText.\n")
    ingest([docs], root, Recipe(Chunking(), labels=("staff",)))
    documents = CorpusStore(root).current().documents
    assert {doc_id: document.labels for doc_id, document in documents.items()} == {
        "a.md": ("legal",),
        "b.md": ("staff",),
        "c.md": ("staff",),
    }


def test_a_dry_run_says_what_would_change_and_changes_nothing(docs: Path, root: Path) -> None:
    """Also where nothing has been ingested yet."""
    assert dry_run([docs], root, RECIPE).changes.added == ("a.md", "b.md", "c.md")
    assert not root.exists()
    version = take(docs, root).version
    (docs / "c.md").unlink()
    told = dry_run([docs], root, RECIPE)
    assert (told.current, told.would_switch) == (version, True)
    assert told.changes == Changes(removed=("c.md",), unchanged=2)
    assert current_version(root) == version


def test_many_edits_in_any_order_end_where_one_ingestion_does(
    tmp_path: Path, docs: Path, root: Path
) -> None:
    """Two hundred edits, additions, moves and removals: same version, documents, passages, ordinals."""
    chance = random.Random(20)
    for step in range(200):
        names = sorted(path.name for path in docs.iterdir())
        match chance.choice(["edit", "edit", "add", "move", "remove"]):
            case "edit":
                (docs / chance.choice(names)).write_text(f"# Page\n\nEdit {step}. " * 5)
            case "add":
                (docs / f"n{step}.md").write_text(f"Page {step}, the same words.")
            case "move":
                (docs / chance.choice(names)).rename(docs / f"m{chance.randrange(40)}.md")
            case "remove" if len(names) > 3:
                (docs / chance.choice(names)).unlink()
        if chance.random() < 0.25:
            take(docs, root)
    last = take(docs, root)
    shutil.rmtree(tmp_path / "other", ignore_errors=True)
    assert take(docs, tmp_path / "other").version == last.version
    stepped, fresh = CorpusStore(root).current(), CorpusStore(tmp_path / "other").current()
    assert all_of(stepped) == all_of(fresh) == all_of(in_memory([docs], RECIPE.chunking)[0])
