"""Versions under a root: the way back, what may go, who waits for whom, and what a crash leaves."""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts import Invalid, Misconfigured
from groundwire.corpus import (
    Busy,
    Chunking,
    CorpusStore,
    Recipe,
    current_version,
    in_memory,
    ingest,
    prune,
    rollback,
    versions,
)
from groundwire.corpus.lock import IngestLock

RECIPE = Recipe(Chunking())
LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def take(root: Path, text: str) -> str:
    docs = root.parent / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "page.md").write_text(text)
    return ingest([docs], root, RECIPE).version


def test_rollback_goes_to_what_answered_before_and_back_again(root: Path) -> None:
    """The way back is itself a step that can be taken back."""
    first, second = take(root, "One."), take(root, "Two.")
    assert rollback(root) == (second, first)
    assert CorpusStore(root).current().documents["page.md"].text == "One."
    assert rollback(root) == (first, second)
    take(root, "Three.")
    assert rollback(root, first)[1] == first
    assert current_version(root) == first


def test_rollback_refuses_what_is_damaged_or_was_never_there(root: Path) -> None:
    """The pointer stays where it is."""
    take(root, "One.")
    with pytest.raises(Invalid, match=r"no version was current before .*groundwire corpus list"):
        rollback(root)
    first, second = current_version(root), take(root, "Two.")
    database = root / "snapshots" / str(first) / "corpus.sqlite"
    data = bytearray(database.read_bytes())
    data[len(data) // 2] ^= 1
    database.write_bytes(data)
    for version in (None, "unknown", "../../etc"):
        with pytest.raises(Invalid):
            rollback(root, version)
    assert current_version(root) == second


def test_an_ingestion_after_a_rollback_moves_on_again(root: Path) -> None:
    """The documents as they are win; the stored snapshot of them is used again."""
    take(root, "One.")
    second = take(root, "Two.")
    rollback(root)
    done = ingest([root.parent / "docs"], root, RECIPE)
    assert (done.version, done.is_new, current_version(root)) == (second, True, second)


def test_prune_keeps_what_answers_what_is_new_and_what_is_read(root: Path) -> None:
    """A worker that still has an old version open can check every draft of it."""
    names = [take(root, f"Text {number}.") for number in range(6)]
    store = CorpusStore(root)
    held = store.snapshot(names[0])
    assert held is not None
    assert prune(root, keep=2, grace_s=60, now=LATER) == [names[3], names[2], names[1]]
    assert {v.version for v in versions(root)} == {names[0], names[4], names[5]}
    assert held.documents["page.md"].text == "Text 0."
    del store
    held.close()
    assert prune(root, keep=2, grace_s=60, now=LATER) == [names[0]]
    assert CorpusStore(root).snapshot(names[0]) is None


def test_prune_keeps_what_an_open_query_may_name(root: Path) -> None:
    """Whatever was retrieved before the switch names the old version until its deadline."""
    old, _ = take(root, "One."), take(root, "Two.")
    assert prune(root, keep=0, grace_s=600) == []
    assert prune(root, keep=0, grace_s=600, now=LATER) == [old]


def test_prune_never_removes_the_current_version(root: Path) -> None:
    """Not even one that is older than those it was rolled back from."""
    first, second = take(root, "One."), take(root, "Two.")
    rollback(root)
    assert prune(root, keep=0, grace_s=0, now=LATER) == [second]
    assert CorpusStore(root).current().version == first


def test_a_second_ingestion_is_refused_while_one_runs(root: Path) -> None:
    """It says which process to wait for."""
    version = take(root, "One.")
    with IngestLock(root), pytest.raises(Busy, match=f"process {os.getpid()} is changing it"):
        take(root, "Two.")
    assert current_version(root) == version
    assert take(root, "Two.") != version


def test_a_root_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where the folder should be, a disk that takes no writes."""
    (tmp_path / "root").write_text("not a folder")
    with pytest.raises(Misconfigured, match="cannot be written"):
        take(tmp_path / "root", "One.")


KILLED = """
import sys
from pathlib import Path
from groundwire.corpus import Chunking, Recipe, ingest
print("ready", flush=True)
ingest([Path(sys.argv[1])], Path(sys.argv[2]), Recipe(Chunking(size=60)))
"""


@pytest.mark.slow
def test_an_ingestion_killed_at_any_point_harms_nothing(tmp_path: Path, root: Path) -> None:
    """The old snapshot answers, the next run finishes, and nothing of the killed one stays."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("Old.")
    recipe = Recipe(Chunking(size=60))
    old = ingest([docs], root, recipe).version
    for number in range(150):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\n" + "Some words of it. " * 60)
    wanted = in_memory([docs], recipe.chunking)[0].version
    chance = random.Random(4)
    for _ in range(6):
        command = [sys.executable, "-c", KILLED, str(docs), str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.35))
            process.send_signal(signal.SIGKILL)
        assert CorpusStore(root).current().version in (old, wanted)
    assert ingest([docs], root, recipe).version == wanted
    assert CorpusStore(root).current().counts.documents == 151
    assert {path.name for path in (root / "snapshots").iterdir()} == {old, wanted}
