"""Parts of a snapshot: what is slow to build follows later, and what is kept is kept as it was."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire.corpus import (
    Chunking,
    CorpusStore,
    Counts,
    OnProgress,
    Part,
    Progress,
    Recipe,
    Snapshot,
    current_version,
    grow_current,
    ingest,
)
from groundwire.corpus.versions import history


class Words:
    """A part that holds the passages' words, and may have to compute so many of them slowly."""

    def __init__(self, name: str, how: str = "1", slow: int = 0, lost: int = 0) -> None:
        self.name = name
        self.how = how
        self.slow = slow
        self.lost = lost
        self.built: list[str] = []
        self.forgot = 0

    def is_wanted(self, counts: Counts) -> bool:
        return counts.passages > 1

    def missing(self, snapshot: Snapshot) -> int:
        return self.slow

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        on_progress(Progress(self.name, 1, 1))
        texts = [document.text_of(passage) for document, passage in snapshot.passages]
        folder.mkdir()
        (folder / "words.txt").write_text("\n".join(texts))
        self.built.append(snapshot.version)
        return len(texts) - self.lost

    def forget(self, snapshot: Snapshot) -> None:
        self.forgot += 1


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("First page.")
    (folder / "b.md").write_text("Second page.")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def take(docs: Path, root: Path, parts: Sequence[Part]) -> str:
    return ingest([docs], root, Recipe(Chunking(), parts=tuple(parts))).version


def parts_of(root: Path, version: str) -> dict[str, str]:
    snapshot = CorpusStore(root).snapshot(version)
    assert snapshot is not None
    return dict(snapshot.manifest.parts)


def test_a_quick_part_is_there_from_the_start(docs: Path, root: Path) -> None:
    """One version, with it; asked for again, nothing is built."""
    words = Words("words")
    version = take(docs, root, [words])
    assert [switch.version for switch in history(root)] == [version]
    folder = CorpusStore(root).current().part("words")
    assert folder is not None
    assert (folder / "words.txt").read_text() == "First page.\nSecond page."
    assert take(docs, root, [words]) == version
    assert len(words.built) == 1


def test_a_slow_part_follows_in_a_later_version_of_the_same_documents(
    docs: Path, root: Path
) -> None:
    """The documents answer at once by what is quick; the files they share are the same ones."""
    version = take(docs, root, [Words("quick"), Words("slow", slow=10_000)])
    first, second = (switch.version for switch in history(root))
    assert (second, parts_of(root, first)) == (version, {"quick": "1"})
    assert parts_of(root, second) == {"quick": "1", "slow": "1"}
    for name in ("corpus.sqlite", "quick/words.txt"):
        files = [(root / "snapshots" / one / name).stat().st_ino for one in (first, second)]
        assert files[0] == files[1]


def test_where_an_answer_is_awaited_a_slow_part_is_left_for_later(docs: Path, root: Path) -> None:
    """Even a hundred passages; asked for then, it comes, and once more changes nothing."""
    parts = [Words("quick"), Words("slow", slow=100)]
    recipe = Recipe(Chunking(), parts=tuple(parts))
    assert grow_current(root, parts) is None
    first = ingest([docs], root, recipe, slow_later=True).version
    assert parts_of(root, first) == {"quick": "1"}
    grown = grow_current(root, parts)
    assert grown is not None
    assert current_version(root) == grown != first
    assert parts_of(root, grown) == {"quick": "1", "slow": "1"}
    assert ingest([docs], root, recipe, slow_later=True).version == grown
    assert grow_current(root, parts) == grown


def test_what_was_cut_short_is_made_up_for_by_the_next_run(docs: Path, root: Path) -> None:
    """Nothing changed but that a part is missing: it is built, and the documents aren't read again."""
    without = take(docs, root, [])
    words = Words("words", slow=10_000)
    version = take(docs, root, [words])
    assert words.built == [without]
    assert version == current_version(root) != without
    assert words.forgot == 1


def test_a_part_that_is_built_otherwise_replaces_the_old_one(docs: Path, root: Path) -> None:
    """Another model, another format: another version; and one that isn't wanted any more goes."""
    one = take(docs, root, [Words("words"), Words("other")])
    two = take(docs, root, [Words("words", how="2")])
    assert parts_of(root, two) == {"words": "2"}
    assert take(docs, root, [Words("other"), Words("words")]) == one


def test_a_part_that_lost_a_passage_never_becomes_current(docs: Path, root: Path) -> None:
    """Produced, stored and indexed must be the same number."""
    version = take(docs, root, [])
    (docs / "a.md").write_text("Another page.")
    with pytest.raises(RuntimeError, match="in words: 1, produced: 2"):
        take(docs, root, [Words("words", lost=1)])
    assert current_version(root) == version
    assert [path.name for path in (root / "snapshots").iterdir()] == [version]


def test_a_small_corpus_does_without(docs: Path, root: Path) -> None:
    """A part says for which sizes it is worth its while."""
    (docs / "b.md").unlink()
    assert parts_of(root, take(docs, root, [Words("words")])) == {}


def test_a_damaged_part_is_refused_when_it_is_opened(docs: Path, root: Path) -> None:
    """By its name; the documents can still be read."""
    version = take(docs, root, [Words("words")])
    path = root / "snapshots" / version / "words" / "words.txt"
    path.write_text(path.read_text().replace("First", "Worst"))
    snapshot = CorpusStore(root).current()
    with pytest.raises(Misconfigured, match=r"words/words\.txt does not match its digest"):
        snapshot.part("words")
    assert take(docs, root, [Words("words")]) == version
    assert CorpusStore(root).current().part("words") is not None
