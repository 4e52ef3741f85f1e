"""The comparison with other libraries runs where they are installed, and its arithmetic is right where they aren't."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.process import query_id_in
from benchmarks.peers.report import ratios, rows_of, summary
from benchmarks.peers.sides import INSTALL, PEERS, SIDES, missing
from benchmarks.peers.turn import Plan, Turn

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def side(queries_per_s: float, p50: float) -> dict[str, Any]:
    return {
        "queries": 1000,
        "turns": 2,
        "queries_per_s": queries_per_s,
        "queries_per_s_of_turns": [queries_per_s - 1, queries_per_s + 1],
        "single_ms": {"p50": p50, "p95": 2 * p50, "p99": 3 * p50},
    }


SIDES_MEASURED = {"ours": side(2000.0, 4.0), "bare": side(2500.0, 3.2), "taskiq": side(250.0, 8.0)}


def test_ratios_are_ours_by_each_peers() -> None:
    """More is better for throughput, less for p50; ours has no ratio to itself."""
    assert ratios(SIDES_MEASURED) == {
        "ours_over": {"bare": 0.8, "taskiq": 8.0},
        "p50_ours_over": {"bare": 1.25, "taskiq": 0.5},
    }


def test_the_table_has_the_fastest_first() -> None:
    """A line a side: rates, size of the run, latencies, and ours by it."""
    rows = list(rows_of({"sides": SIDES_MEASURED, **ratios(SIDES_MEASURED)}))
    assert [row[0] for row in rows] == ["bare", "ours", "taskiq"]
    latencies = "8.0 / 16.0 / 24.0"
    assert rows[2] == ["taskiq", "250 (249-251)", "1,000 × 2", latencies, "8.00", "0.50"]


def test_a_side_is_summed_up_by_medians() -> None:
    """The middle turn counts, not the mean; repeated results are added up."""
    turns = [Turn(100, rate, 1, [rate, rate]) for rate in (10.0, 20.0, 90.0)]
    found = summary(turns)
    assert found["queries_per_s"] == 20.0
    assert found["single_ms"] == {"p50": 20.0, "p95": 20.0, "p99": 20.0}
    assert found["repeated"] == 3


def test_a_burst_takes_about_half_a_turn() -> None:
    """And is never so short that it says nothing."""
    assert Plan(10.0).burst_of(pace=300.0) == 1500
    assert Plan(1.0).burst_of(pace=10.0) == 50


@pytest.mark.parametrize(
    "value",
    [b'{"query_id":"0-12-3","text":""}', b'\x89BIN{"data": "{\\"query_id\\": \\"0-12-3\\"}"}'],
)
def test_a_result_is_recognised_in_any_wrapping(value: bytes) -> None:
    """Plain JSON, or JSON in a string in a library's own format."""
    assert query_id_in({b"other": b"", b"body": value}) == b"0-12-3"


def test_what_a_side_needs_is_named_when_it_is_absent() -> None:
    """Ours and the bare loop need nothing; a package that several sides need is named once."""
    assert missing(["ours", "bare"], has=lambda _: False) == []
    names = ["faststream", "faststream-batch", "docket"]
    assert missing(names, has=lambda name: name == "docket") == ["faststream", "uvloop"]


def test_every_setting_has_its_page_beside_it() -> None:
    """Each chain through another library links to a page of its documentation."""
    for name in {SIDES[name].module for name in PEERS if SIDES[name].packages}:
        assert "https://" in (ROOT / "benchmarks" / "peers" / f"{name}.py").read_text(), name


@pytest.mark.skipif(not missing(PEERS), reason="every peer is installed")
def test_an_absent_peer_ends_with_how_to_install_it() -> None:
    """Exit 2, and the command to type."""
    ended = run()
    assert ended.returncode == 2
    assert INSTALL in ended.stderr


def test_an_unknown_peer_is_refused_with_those_there_are() -> None:
    """Exit 2, and the names."""
    ended = run("--peers", "fasstream")
    assert ended.returncode == 2
    assert "faststream-batch-1000" in ended.stderr


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.skipif(bool(missing(PEERS)), reason=f"needs the peers: {INSTALL}")
@pytest.mark.parametrize("peer", PEERS)
def test_a_short_run_reports_both_ratios(peer: str) -> None:
    """`--json` holds ours by the peer's, for throughput and for p50."""
    ended = run("--json", "--peers", peer, "--seconds", "2")
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["ours_over"][peer] > 0
    assert report["p50_ours_over"][peer] > 0
    assert set(report["sides"]) == {"ours", peer}
