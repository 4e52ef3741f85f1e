"""An intents file that changes while workers run: picked up whole, or not at all."""

import os
from pathlib import Path

import pytest

from contracts import Intent, Misconfigured, OutOfScope, Query
from groundwire.wiring import assemble, build_handler
from groundwire.wiring.given import GivenIntents
from groundwire.wiring.rules import USED

FILE = 'version = 1\n[[intents]]\nlabel = "berths"\nkeywords = { berth = 1 }\n'
OTHER = FILE.replace("berth", "tide")


def write(path: Path, text: str) -> None:
    """As editors do: whole, in place of the old one, so that no reader sees a half."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    write(path, FILE)
    return path


def test_a_changed_file_is_read_again(path: Path) -> None:
    """At the next question, without a restart."""
    given = GivenIntents(path)
    assert given.text() == FILE
    write(path, OTHER)
    assert given.text() == OTHER


def test_a_file_that_becomes_faulty_is_told_once_and_the_last_valid_one_stays(path: Path) -> None:
    """A person saves half a sentence: workers go on by the old rules, and say where the fault is."""
    told: list[str] = []
    given = GivenIntents(path, told.append)
    write(path, FILE + "[[intents]]\nlabel = ")
    assert [given.text(), given.text()] == [FILE, FILE]
    assert len(told) == 1
    assert str(path) in told[0]
    write(path, OTHER)
    assert given.text() == OTHER


def test_a_file_that_is_gone_for_a_moment_stays_in_force(path: Path) -> None:
    """Some editors remove before they write."""
    given = GivenIntents(path)
    path.unlink()
    assert given.text() == FILE


def test_a_file_that_is_faulty_from_the_start_is_refused(path: Path) -> None:
    """A worker doesn't start on it."""
    write(path, "version = 2")
    with pytest.raises(Misconfigured, match=r"mine\.toml"):
        GivenIntents(path)


async def test_a_message_is_handled_by_one_configuration_and_carries_its_digest(
    path: Path, tmp_path: Path
) -> None:
    """Before and after a change: the label, and the digest that goes into the envelope, are of the same file."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("A berth costs 20 a night. High tide is at six.")
    assembly = assemble("fast", tmp_path / "docs", path)
    handle = build_handler("understand", assembly)
    question = Query(text="A berth?", session_id="s")
    first = await handle(question)
    assert isinstance(first, Intent)
    assert (first.label, USED.get()) == ("berths", assembly.digest_of(FILE))
    write(path, OTHER)
    second = await handle(question)
    assert isinstance(second, OutOfScope)
    assert list(second.intent.category_scores) == ["tides"]
    assert USED.get() == assembly.digest_of(OTHER) != assembly.digest_of(FILE)
