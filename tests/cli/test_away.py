"""`status`, `verify`, `health`, `dead`, `tail`, `doctor` on a cluster of which a node is away and nobody takes over."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from bus.failed import DeadRecord, failed_envelope
from bus.keys import Keys
from bus.slots import slot_of
from groundwire.embedded.several import TemporaryCluster

from .conftest import Commands, Done

pytestmark = pytest.mark.server

LANES = range(4)


@pytest.fixture(scope="module")
def alone() -> Iterator[TemporaryCluster]:
    """Three primaries, no replicas: what is away stays away until it is started again."""
    cluster = TemporaryCluster(replicas=0)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def on_cluster(nothing_up: Commands, alone: TemporaryCluster) -> Commands:
    """Commands on that cluster, with four lanes."""
    nothing_up.set("GROUNDWIRE_REDIS_URL", alone.url)
    nothing_up.set("GROUNDWIRE_LANES", "4")
    return nothing_up


def lanes_with(cluster: TemporaryCluster, lane: int) -> list[int]:
    """The lanes on the node of a lane."""
    node = cluster.primary_of(slot_of(lane))
    return [one for one in LANES if cluster.primary_of(slot_of(one)) is node]


@contextmanager
def away(cluster: TemporaryCluster, lane: int) -> Iterator[None]:
    """The node of a lane killed; back, and known to all, afterwards."""
    node = cluster.primary_of(slot_of(lane))
    node.kill()
    try:
        yield
    finally:
        node.start()
        cluster.await_whole()


@pytest.mark.parametrize("lane", [0, 1])
def test_the_lanes_that_answer_are_told_and_the_others_named(
    on_cluster: Commands, alone: TemporaryCluster, lane: int
) -> None:
    """Lane 0's node too, which knows how many lanes there are; all is whole again once it is back."""
    assert on_cluster("verify", "--json").json["verdict"] == "holds"
    gone = lanes_with(alone, lane)
    with away(alone, lane):
        status = on_cluster("status", "--json")
        assert_named(status, gone, code=1)
        assert status.json["accepted"] == 0
        shown = on_cluster("status")
        assert shown.code == 1
        assert f"lane {gone[0]} is unreachable" in shown.out

        verified = on_cluster("verify", "--json")
        assert_named(verified, gone, code=3)
        assert (verified.json["verdict"], verified.json["holds"]) == ("unverified", False)
        others = [one for one in LANES if one not in gone]
        assert [one["lane"] for one in verified.json["lanes"]] == others
        shown = on_cluster("verify")
        assert shown.code == 3
        assert "not verified" in shown.out
        assert f"lane {others[0]}: accepted 0" in shown.out

        whole = on_cluster("health")
        assert whole.code == 1
        assert f"lane {gone[0]} is unreachable" in whole.out
        stage = on_cluster("health", "critic")
        assert stage.code == 1
        assert "critic: 0 alive" in stage.out
    for command in (("verify",), ("status",), ("health",)):
        done = on_cluster(*command)
        assert (done.code, "unreachable" in done.out) == (0, False)


def test_the_dead_letters_of_the_other_lanes_are_listed_and_can_be_discarded(
    on_cluster: Commands, alone: TemporaryCluster
) -> None:
    """Exit code 3 for the list, which has a lane too few; what is about one letter needs its own lane."""
    assert on_cluster("status").code == 0
    letters = {lane: bury(alone, lane) for lane in LANES}
    whole = on_cluster("dead", "list", "--json")
    assert whole.code == 0
    assert {one["id"] for one in whole.json["dead_letters"]} == {*letters.values()}
    assert whole.json["unreachable"] == []
    gone = lanes_with(alone, 0)
    others = [one for one in LANES if one not in gone]
    with away(alone, 0):
        part = on_cluster("dead", "list", "--json")
        assert_named(part, gone, code=3)
        listed = {one["id"] for one in part.json["dead_letters"]}
        assert listed == {letters[lane] for lane in others}
        shown = on_cluster("dead", "list")
        assert shown.code == 3
        assert letters[others[0]] in shown.out
        assert f"lane {gone[0]} is unreachable" in shown.out
        assert on_cluster("dead", "show", letters[others[0]]).code == 0
        assert on_cluster("dead", "discard", letters[others[0]]).code == 0
        assert on_cluster("dead", "show", letters[0]).code == 3
    left = on_cluster("dead", "list", "--json").json["dead_letters"]
    assert {one["id"] for one in left} == {*letters.values()} - {letters[others[0]]}


def test_results_of_the_other_lanes_are_printed(
    on_cluster: Commands, alone: TemporaryCluster
) -> None:
    """The lane whose node is away is named beside them."""
    assert on_cluster("status").code == 0
    gone = lanes_with(alone, 0)
    lane = next(one for one in LANES if one not in gone)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    body = failed_envelope(None, None, f"{lane}-1", stage="critic", now=now, message="")
    node = alone.primary_of(slot_of(lane))
    assert node.ask("XADD", Keys(lane).of("results.failed"), "*", "event", body.decode())
    with away(alone, 0):
        done = on_cluster("tail", "failed", "--after", "0", "--limit", "1", "--json")
        assert (done.code, done.json["query_id"]) == (0, f"{lane}-1")
        assert re.findall(r"lane (\d) is unreachable", done.err) == [str(one) for one in gone]


def bury(cluster: TemporaryCluster, lane: int) -> str:
    """Put a dead letter's record in a lane; its id."""
    record = DeadRecord(
        query_id=f"{lane}-1",
        stage="critic",
        stream="drafts",
        entry_id="1-0",
        reason="undecodable",
        error="",
        attempts=1,
        deliveries=1,
        bytes=1,
        digest="",
        time=datetime(2026, 1, 1, tzinfo=UTC),
        raw_key=Keys(lane).raw("drafts", "1-0"),
    ).model_dump_json()
    node = cluster.primary_of(slot_of(lane))
    return f"{lane}/{node.ask('XADD', Keys(lane).dead, '*', 'record', record)}"


def assert_named(done: Done, lanes: list[int], *, code: int) -> None:
    """Each lane with the address that was tried."""
    assert done.code == code
    assert [one["lane"] for one in done.json["unreachable"]] == lanes
    assert all(re.search(r"127\.0\.0\.1:\d+", one["why"]) for one in done.json["unreachable"])


def test_doctor_names_the_lanes_whose_server_it_cannot_judge(
    on_cluster: Commands, alone: TemporaryCluster
) -> None:
    """Beside what it finds of the other ones."""
    assert on_cluster("status").code == 0
    gone = lanes_with(alone, 1)
    with away(alone, 1):
        done = on_cluster("doctor", "--json")
    servers = [one for one in done.json["findings"] if one["check"] == "server"]
    wrong = [one["what"].partition("'s: ")[0] for one in servers if one["level"] == "error"]
    assert (done.code, wrong) == (1, [f"lane {lane}" for lane in gone])
    assert any(one["level"] == "ok" for one in servers)


def test_the_live_view_goes_on_while_a_node_is_away(
    on_cluster: Commands, alone: TemporaryCluster
) -> None:
    """It names the lane, and stops naming it."""
    ours, theirs = pty.openpty()
    command = (sys.executable, "-m", "groundwire", "status", "--watch", "--every", "0.1")
    with away(alone, 0):
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        _until(ours, r"lane 0 is unreachable")
    try:
        _until(ours, r"accepted((?!unreachable).)*accepted")
    finally:
        process.terminate()
        process.wait(10)
        os.close(ours)


def _until(terminal: int, pattern: str) -> None:
    """Read what is drawn on a terminal until a pattern is in it."""
    read = ""
    while not re.search(pattern, read, re.DOTALL):
        read += os.read(terminal, 4096).decode(errors="replace")
