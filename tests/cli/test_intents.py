"""`groundwire intents`: what a file says, how it reads, what overlaps, for people and for programs."""

from pathlib import Path

import pytest

from .conftest import Commands

FILE = """version = 1
ask_back = ["boat"]

[[intents]]
label = "berths"
description = "Where a boat lies"
keywords = { berth = 4, "mooring fee" = 3 }
examples = ["Is a berth free?", "What does a berth cost?", "Where may I moor tonight?",
  "How long may a boat lie here?", "I want to reserve a place for my boat"]

[[intents]]
label = "fees"
keywords = { fee = 3 }
examples = ["What do I have to pay?", "Which fee is due?", "How much is the harbour fee?",
  "When is the bill sent?", "Can I pay by card?"]

[entities.boat]
sail = ["sail", "sailing boat"]
motor = ["motor", "motorboat"]
"""


@pytest.fixture
def harbour(nothing_up: Commands) -> Path:
    """A folder with intents; profile `fast` reads it without a neural model."""
    nothing_up.set("GROUNDWIRE_PROFILE", "fast")
    folder = nothing_up.home.folder / "harbour"
    folder.mkdir()
    (folder / "intents.toml").write_text(FILE)
    return folder


def test_check_tells_the_threshold_and_what_to_expect(nothing_up: Commands, harbour: Path) -> None:
    """How it was calibrated, and which errors will pass."""
    told = nothing_up("intents", "check", harbour)
    assert told.code == 0
    for part in ("is valid; classifier combined", "scope threshold", "held-out examples (aim 95%)"):
        assert part in told.out
    found = nothing_up("intents", "check", harbour, "--json").json
    assert [label["label"] for label in found["labels"]] == ["berths", "fees"]
    assert (found["keep"], found["held_out"]) == (0.95, 10)
    assert 0 <= found["false_accept_foreign"] < 0.5


def test_check_names_the_line_of_a_fault(nothing_up: Commands, harbour: Path) -> None:
    """And the exit code is that of a faulty configuration."""
    path = harbour / "intents.toml"
    path.write_text(FILE.replace('"Can I pay by card?"', '"is a berth free?"'))
    told = nothing_up("intents", "check", harbour)
    assert told.code == 2
    assert "intents.toml, line 15" in told.err
    assert "example of 'berths' too" in told.err


def test_test_shows_the_scores_the_winner_and_why(nothing_up: Commands, harbour: Path) -> None:
    """Keywords that occur and examples that are near; what is out of scope exits as such."""
    told = nothing_up("intents", "test", "Is a berth free for a motorboat?", "--intents", harbour)
    assert told.code == 0
    assert told.out.startswith("intent: berths")
    for part in ("near 'Is a berth free?'", "keyword 'berth', weight 4", "entity boat = motor"):
        assert part in told.out
    assert "over the scope threshold" in told.out
    refused = nothing_up("intents", "test", "Wer hat das Spiel gewonnen?", "--intents", harbour)
    assert refused.code == 4
    assert refused.out.startswith("out_of_scope (language)")
    found = nothing_up("intents", "test", "How much is it?", "--intents", harbour, "--json").json
    assert abs(sum(found["scores"].values()) - 1) < 1e-6


def test_confusions_names_labels_that_share_words(nothing_up: Commands, harbour: Path) -> None:
    """By keywords in common, and by held-out examples that were taken for another label's."""
    told = nothing_up("intents", "confusions", "--intents", harbour, "--json")
    assert told.code == 0
    pairs = {frozenset((one["label"], one["other"])): one["shared"] for one in told.json}
    assert pairs == {frozenset(("berths", "fees")): ["fee"]}
    assert "taken for" in nothing_up("intents", "confusions", "--intents", harbour).out


def test_schema_is_one_for_editors(nothing_up: Commands) -> None:
    """JSON Schema on standard output, nothing else."""
    told = nothing_up("intents", "schema")
    assert told.code == 0
    assert told.json["properties"]["intents"]["type"] == "array"
