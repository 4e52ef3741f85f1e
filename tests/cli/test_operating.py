"""`status`, `tail`, `verify`, `dead`, `ingest`, `doctor`: what an operator sees and does."""

import json
from pathlib import Path

import pytest
from e2e.machine import HANDBOOK, STAGES, add, eventually

from .conftest import Commands

pytestmark = pytest.mark.server

QUESTION = "Can I get a refund on an annual plan?"


def bury(groundwire: Commands, stream: str = "drafts", event: str = "{") -> str:
    """Put junk on a work stream; the id of its dead letter."""
    with groundwire.home.redis() as server:
        entry = add(server, f"gw:{{0}}:{stream}", {"event": event})
    found: list[str] = []

    def is_buried() -> bool:
        listed = groundwire("dead", "list", "--json").json["dead_letters"]
        found.extend(one["id"] for one in listed if one["entry_id"] == entry)
        return bool(found)

    eventually(is_buried, "the dead letter")
    return found[0]


def test_status_shows_each_stage_with_its_worker_and_each_outcome(groundwire: Commands) -> None:
    """A table for people, exit code 0 when all is well."""
    done = groundwire("status")
    assert done.code == 0
    rows = {line.split()[0]: line.split()[1] for line in done.out.splitlines()[1:6]}
    assert rows == dict.fromkeys(STAGES, "1")
    assert "answered" in done.out


def test_status_as_json_has_stages_outcomes_and_counts(groundwire: Commands) -> None:
    """The keys that scripts rely on."""
    found = groundwire("status", "--json").json
    assert found.keys() >= {"stages", "outcomes", "accepted", "open", "dead"}
    assert [stage["stage"] for stage in found["stages"]] == list(STAGES)
    for stage in found["stages"]:
        assert stage.keys() >= {"workers", "backlog", "pending", "delayed", "oldest_ms"}
    assert set(found["outcomes"]) == {"answered", "out_of_scope", "rejected", "failed"}


def test_tail_stops_at_its_limit_and_goes_on_at_its_cursor(groundwire: Commands) -> None:
    """One JSON object a line, each with the cursor behind it."""
    ids = groundwire("publish", "-", stdin=f"{QUESTION}\n" * 3).out.split()
    for query_id in ids:
        assert groundwire("result", query_id).code == 0
    everything = groundwire("tail", "answered", "--after", "0", "--limit", "3", "--json")
    assert everything.code == 0
    lines = [json.loads(line) for line in everything.out.splitlines()]
    assert len(lines) == 3
    assert all(line["status"] == "approved" for line in lines)
    rest = groundwire("tail", "answered", "--after", lines[0]["cursor"], "--limit", "2", "--json")
    assert [json.loads(line) for line in rest.out.splitlines()] == lines[1:]
    shown = groundwire("tail", "all", "--after", "0", "--limit", "1")
    assert (shown.code, len(shown.out.splitlines())) == (0, 1)


@pytest.mark.parametrize("words", [["tail", "weather"], ["tail", "--after", "yesterday"]])
def test_tail_of_what_there_is_not_is_a_usage_error(groundwire: Commands, words: list[str]) -> None:
    """An unknown outcome or cursor is named."""
    done = groundwire(*words, "--limit", "1")
    assert done.code == 2
    assert words[-1] in done.err


def test_a_backup_of_what_runs_is_restored_elsewhere_once(
    groundwire: Commands, tmp_path: Path
) -> None:
    """Made without a stop; put back where nothing is, and not a second time."""
    saved = tmp_path / "saved"
    made = groundwire("backup", saved, "--json")
    assert (made.code, made.json["server"].split()[0]) == (0, "valkey")
    assert groundwire("backup", saved).code == 2
    assert groundwire("restore", saved).code == 2
    groundwire.set("GROUNDWIRE_HOME", str(tmp_path / "home"))
    shown = groundwire("restore", saved)
    assert (shown.code, "groundwire verify" in shown.out) == (0, True)
    assert (tmp_path / "home" / "corpus" / "current").read_text().strip() == made.json["corpus"]
    again = groundwire("restore", saved)
    assert (again.code, "nothing is overwritten" in again.err) == (2, True)


def test_verify_shows_both_equations_and_exits_0(groundwire: Commands) -> None:
    """The law in numbers, for people and for scripts."""
    shown = groundwire("verify")
    assert shown.code == 0
    assert "verified" in shown.out
    assert "≠" not in shown.out
    found = groundwire("verify", "--json")
    assert found.code == 0
    assert found.json["holds"] is True
    [lane] = found.json["lanes"]
    assert lane.keys() >= {"accepted", "replayed", "outcomes", "open", "working", "delayed", "bare"}


def test_verify_that_finds_the_law_broken_exits_1(groundwire: Commands) -> None:
    """A query that was opened and lies nowhere: shown as ≠, in words and in the exit code."""
    with groundwire.home.redis() as server:
        server.zadd("gw:{0}:open", {"0-lost": 4_102_444_800_000})
        try:
            shown, found = groundwire("verify"), groundwire("verify", "--json")
        finally:
            server.zrem("gw:{0}:open", "0-lost")
    assert (shown.code, found.code) == (1, 1)
    assert "≠" in shown.out
    assert found.json["holds"] is False
    assert groundwire("verify").code == 0


def test_a_dead_letter_is_listed_shown_and_discarded(groundwire: Commands) -> None:
    """Record without text, raw bytes on demand; once discarded it is gone."""
    dead_id = bury(groundwire, event="{junk")
    assert dead_id in groundwire("dead", "list").out
    record = groundwire("dead", "show", dead_id, "--json").json
    assert (record["id"], record["stage"], record["reason"]) == (dead_id, "critic", "undecodable")
    shown = groundwire("dead", "show", dead_id)
    assert "undecodable" in shown.out
    assert "junk" not in shown.out
    assert groundwire("dead", "discard", dead_id).code == 0
    gone = groundwire("dead", "show", dead_id)
    assert gone.code == 2
    assert dead_id in gone.err


def test_the_raw_bytes_of_a_dead_letter_are_printed_as_they_are(groundwire: Commands) -> None:
    """For the operator, through a pipe: the console script, byte by byte."""
    dead_id = bury(groundwire, event="{junk é")
    done = groundwire.home.run("dead", "show", dead_id, "--raw")
    assert (done.returncode, done.stdout) == (0, "{junk é\n")
    groundwire("dead", "discard", dead_id)


def test_the_raw_bytes_of_a_dead_letter_steer_no_terminal(
    groundwire: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may submit may put them there, and only an operator looks."""
    dead_id = bury(groundwire, event="{junk \x1b]0;owned\x07")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert groundwire("dead", "show", dead_id, "--raw").out == "{junk \ufffd]0;owned\ufffd\n"
    groundwire("dead", "discard", dead_id)


def test_a_dead_letter_of_no_query_cannot_be_replayed(groundwire: Commands) -> None:
    """What was never accepted is discarded, and the message says so."""
    dead_id = bury(groundwire)
    done = groundwire("dead", "replay", dead_id)
    assert done.code == 2
    assert "discard" in done.err
    groundwire("dead", "discard", dead_id)


def test_a_replayed_dead_letter_gets_a_new_result(groundwire: Commands) -> None:
    """A query that failed by its deadline is opened again, answered, and supersedes the failure."""
    hurried = "GROUNDWIRE_DEADLINE_S"
    groundwire.set(hurried, "0.001")
    query_id = groundwire("publish", "-", stdin=f"{QUESTION}\n").out.strip()
    groundwire.unset(hurried)
    assert groundwire("result", query_id).code == 1
    [dead_id] = [
        one["id"]
        for one in groundwire("dead", "list", "--json").json["dead_letters"]
        if one["query_id"] == query_id and one["reason"] == "deadline"
    ]
    done = groundwire("dead", "replay", dead_id, "--json")
    assert (done.code, done.json) == (0, {"query_id": query_id})

    def is_answered() -> bool:
        return groundwire("result", query_id).code == 0

    eventually(is_answered, "the replayed answer")
    assert groundwire("verify").code == 0
    again = groundwire("dead", "replay", dead_id)
    assert again.code == 2


@pytest.mark.parametrize("words", [["show"], ["replay"], ["discard"]])
@pytest.mark.parametrize("dead_id", ["nonsense", "0/1-0", "7/1-0", "0/nonsense", "0/\udce9"])
def test_a_dead_letter_that_is_not_there_is_a_usage_error(
    groundwire: Commands, words: list[str], dead_id: str
) -> None:
    """It is named; nothing happens."""
    done = groundwire("dead", *words, dead_id)
    assert done.code == 2
    assert ascii(dead_id)[1:-1] in done.err


def test_ingest_names_what_it_cannot_read_and_exits_1(nothing_up: Commands) -> None:
    """The readable documents are ingested all the same."""
    folder = nothing_up.home.folder / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("# Refunds\n\nAnnual plans can be refunded.\n")
    (folder / "bad.md").write_bytes(b"# Refunds\n\n\x00\x01\x02\n")
    done = nothing_up("ingest", folder)
    assert done.code == 1
    assert "1 documents" in done.out
    assert "bad.md" in done.err
    found = nothing_up("ingest", folder, "--json")
    assert found.code == 1
    assert found.json["documents"] == 1
    assert [problem["source"] for problem in found.json["problems"]] == ["bad.md"]


def test_ingest_twice_is_the_same_snapshot(nothing_up: Commands) -> None:
    """The version is derived from the content; the summary is JSON for scripts."""
    first = nothing_up("ingest", HANDBOOK, "--json")
    second = nothing_up("ingest", HANDBOOK, "--json")
    assert (first.code, second.code) == (0, 0)
    assert first.json["documents"] == 20
    assert first.json["version"] == second.json["version"]
    assert "corpus" in nothing_up("doctor").out


def test_ingesting_nothing_is_a_usage_error(nothing_up: Commands, tmp_path: Path) -> None:
    """An empty folder replaces no corpus."""
    empty = tmp_path / "empty"
    empty.mkdir()
    done = nothing_up("ingest", empty)
    assert done.code in {1, 2}
    assert done.err.strip()
    assert not (nothing_up.home.path / "corpus" / "current").exists()


def test_doctor_finds_a_running_system_healthy(groundwire: Commands) -> None:
    """Server, memory, persistence and corpus are all fine in a system that `up` started."""
    done = groundwire("doctor", "--json")
    assert done.code == 0
    levels = {finding["check"]: finding["level"] for finding in done.json["findings"]}
    assert levels.keys() >= {"python", "binary", "corpus", "server", "memory", "persistence"}
    assert set(levels.values()) == {"ok"}
