"""Snapshots on disk: immutable, verified, switched at once."""

from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire.corpus import Chunking, CorpusStore, Recipe, in_memory, ingest


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("---\nlabels: [x]\n---\n# A\n\nFirst. \u2028 Second\x0bpart.")
    (folder / "b.txt").write_text("Plain text.")
    return folder


def test_a_stored_snapshot_reads_back_as_it_was_built(docs: Path, tmp_path: Path) -> None:
    """Same version, same documents, same passages."""
    built, _ = in_memory([docs], Chunking(), intents="version = 1")
    summary = ingest([docs], tmp_path / "root", Recipe(Chunking(), "version = 1"))
    stored = CorpusStore(tmp_path / "root").current()
    assert dict(stored.documents) == dict(built.documents)
    assert stored.passages == built.passages
    assert (stored.version, stored.intents) == (built.version, built.intents)
    assert summary.version == built.version
    assert (summary.documents, summary.sources) == (2, ("a.md", "b.txt"))


def test_the_version_is_a_digest_of_the_content(docs: Path, tmp_path: Path) -> None:
    """Equal content is one snapshot; text, chunking or intents make another."""
    root = tmp_path / "root"
    version = ingest([docs], root, Recipe(Chunking())).version
    assert ingest([docs], root, Recipe(Chunking())).version == version
    others = {
        ingest([docs], root, Recipe(Chunking(size=300))).version,
        ingest([docs], root, Recipe(Chunking(), "version = 1")).version,
    }
    (docs / "b.txt").write_text("Plain text!")
    others.add(ingest([docs], root, Recipe(Chunking())).version)
    assert len(others | {version}) == 4
    assert not [path for path in (root / "snapshots").iterdir() if path.name.startswith(".")]


def test_readers_follow_the_pointer_and_older_versions_stay(docs: Path, tmp_path: Path) -> None:
    """A new corpus needs no restart, and a draft of the old one can still be checked."""
    root = tmp_path / "root"
    old = ingest([docs], root, Recipe(Chunking())).version
    store = CorpusStore(root)
    assert store.current().version == old
    (docs / "c.md").write_text("New page.")
    new = ingest([docs], root, Recipe(Chunking())).version
    assert store.current().version == new
    assert "c.md" in store.current().documents
    older = store.snapshot(old)
    assert older is not None
    assert "c.md" not in older.documents


@pytest.mark.parametrize("name", ["corpus.sqlite", "manifest.json"])
def test_a_damaged_file_is_named(docs: Path, tmp_path: Path, name: str) -> None:
    """One changed byte is an error, not an answer; ingesting again repairs it."""
    root = tmp_path / "root"
    version = ingest([docs], root, Recipe(Chunking())).version
    path = root / "snapshots" / version / name
    path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(Misconfigured, match=f"{version} is damaged: {name}"):
        CorpusStore(root).current()
    path.unlink()
    with pytest.raises(Misconfigured, match="is damaged"):
        CorpusStore(root).current()
    ingest([docs], root, Recipe(Chunking()))
    assert CorpusStore(root).current().version == version


def test_a_root_without_a_corpus_says_what_to_do(tmp_path: Path) -> None:
    """The first command that a new user forgets."""
    with pytest.raises(Misconfigured, match="groundwire ingest"):
        CorpusStore(tmp_path).current()


@pytest.mark.parametrize("version", ["unknown", "../..", "", "."])
def test_an_unknown_version_is_none(docs: Path, tmp_path: Path, version: str) -> None:
    """Versions come from messages: they never become paths of their own."""
    ingest([docs], tmp_path / "root", Recipe(Chunking()))
    assert CorpusStore(tmp_path / "root").snapshot(version) is None
