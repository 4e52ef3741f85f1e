"""Whole runs: a system under every fault keeps its promise, and one that is robbed is found out."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.machine import descendants, eventually

from contracts import Query, Transient
from groundwire.chaos.agents import Mark, handler_of, mark_of, natural_s
from groundwire.chaos.arena import CONFIG, Arena, Setup, signal_to
from groundwire.chaos.campaign import Campaign, Progress, run_seed
from groundwire.chaos.fault_handlers import QUEUED
from groundwire.chaos.faults import FAULTS, faults_named
from groundwire.chaos.load import LARGE
from groundwire.chaos.plan import Fault, Strike
from groundwire.cli.app import run
from groundwire.embedded.process import is_running

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

COMMAND = "from groundwire.cli import main; main()"
CROWDED = 3406
"""A seed whose faults mostly overlap, and so are over soon."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
async def test_nothing_is_lost_or_repeated_under_all_faults() -> None:
    """The promise of the bus, under everything this package knows."""
    seen: list[Progress] = []
    campaign = Campaign(queries=300)
    report = await run_seed(campaign, CROWDED, seen.append)
    assert report.wrong == {}
    assert report.verified, report.verification
    assert report.account.accepted >= 300
    assert sorted(one.fault for one in report.faults) == sorted(one.name for one in campaign.faults)
    assert len(report.recoveries) == len(campaign.faults)
    assert {fault for one in seen for fault in one.fault.split(", ")} > {"burst", "server-freeze"}


async def test_a_burst_over_the_open_mark_is_refused_and_not_lost() -> None:
    report = await run_seed(
        Campaign(chosen=faults_named("burst"), queries=1), 1, lambda progress: None
    )
    assert report.refusals > 0
    assert report.holds, report.wrong


async def test_a_poison_fails_and_its_neighbours_are_answered() -> None:
    """Also where they were in hand together each time it struck."""
    report = await run_seed(
        Campaign(chosen=faults_named("poison"), queries=1), 1, lambda progress: None
    )
    assert report.wrong == {}
    assert report.verification[0].outcomes["failed"] == 1
    [death] = report.deaths.values()
    assert death.reason == "deliveries"


async def _rob(arena: Arena, strike: Strike) -> None:
    """Take an entry that no worker has read from a work stream whose workers are held."""
    stream = arena.work_stream(strike)
    held = [one for one in arena.supervisor.workers() if one.stage == strike.stage]
    for worker in held:
        signal_to(worker, signal.SIGSTOP)
    try:
        while True:
            newest = await arena.command("XREVRANGE", stream, "+", "-", "COUNT", 1)
            if newest:
                entry = newest[0][0]
                pending = await arena.command("XPENDING", stream, strike.stage, entry, entry, 1)
                if not pending and await arena.command("XDEL", stream, entry):
                    return
            await asyncio.sleep(0.01)
    finally:
        for worker in held:
            signal_to(worker, signal.SIGCONT)


def test_an_entry_deleted_by_hand_is_found_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lost in the account, broken in `verify`, exit code 1."""
    robbery = Fault("robbery", "an entry is deleted from a work stream", 0.0, 0.0, _rob)
    monkeypatch.setitem(FAULTS, "robbery", robbery)
    command = ("chaos", "--faults", "robbery", "--queries", "50", "--patience", "4", "--json")
    assert run(command) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["lost"] == 1
    assert told["duplicates"] == 0
    assert told["verify"] is False
    assert told["runs"][0]["verification"][0]["open"] == 1
    assert told["runs"][0]["faults"][0]["fault"] == "robbery"
    assert list(told["runs"][0]["wrong"].values()) == ["lost"]


async def _forge(arena: Arena, strike: Strike) -> None:
    """Put a copy of the first result on its stream, as a settle done twice would."""
    stream = arena.keys(strike).of("results.answered")
    asked = await arena.load.ask()
    await asked.answered.wait()
    first = await arena.command("XRANGE", stream, "-", "+", "COUNT", 1)
    await arena.add(stream, first[0][1])


def test_a_result_given_twice_is_found_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Doubled in the account, more than `verify` counted, exit code 1."""
    forgery = Fault("forgery", "a result is copied", 0.0, 0.0, _forge)
    monkeypatch.setitem(FAULTS, "forgery", forgery)
    assert run(("chaos", "--faults", "forgery", "--queries", "20", "--json")) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["lost"], told["duplicates"], told["verify"]) == (0, 1, False)
    assert list(told["runs"][0]["wrong"].values()) == ["answered twice"]


RETRIEVE, FORMAT = 2, 6
"""Seeds that strike at this stage, where the deadline is the only fault."""


@pytest.mark.parametrize(("seed", "after"), [(RETRIEVE, {"synthesize"}), (FORMAT, set())])
async def test_deadlines_pass_in_a_queue_and_while_a_handler_runs(
    seed: int, after: set[str]
) -> None:
    """In the queue they end before the slow stage, in its handler behind it: failed there, or answered late."""
    chosen = faults_named("deadline")
    report = await run_seed(Campaign(chosen=chosen, queries=1), seed, lambda progress: None)
    assert report.holds, report.wrong
    [strike] = report.faults
    assert {death.reason for death in report.deaths.values()} == {"deadline"}
    assert {death.stage for death in report.deaths.values()} >= {strike.stage} | after
    hasty = CONFIG.concurrency * Setup().workers + QUEUED
    failed = report.verification[0].outcomes["failed"]
    assert failed == hasty if after else 0 < failed < hasty


async def test_deadlines_pass_and_their_dead_letters_are_replayed_on_two_lanes() -> None:
    """Failed, then answered: one more result for each replay, and no more."""
    chosen = faults_named("deadline,replay,bare,junk,newer")
    report = await run_seed(Campaign(Setup(lanes=2), chosen, queries=1), 1, lambda progress: None)
    assert report.holds, report.wrong
    assert report.account.replayed > 0
    assert len(report.verification) == 2
    assert {death.reason for death in report.deaths.values()} >= {"deadline", "undecodable"}


async def _spill(arena: Arena, strike: Strike) -> None:
    """Leave a blob that no entry refers to."""
    await arena.command("SET", arena.keys(strike).blob("spilt"), "a message")


def test_a_blob_that_outlives_its_message_is_found_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every query has its result, `verify` is exact, and still: exit code 1."""
    monkeypatch.setitem(FAULTS, "spill", Fault("spill", "a blob is left", 0.0, 0.0, _spill))
    assert run(("chaos", "--faults", "spill", "--queries", "20", "--json")) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["lost"], told["verify"], told["leaked"]) == (0, True, 1)
    assert told["runs"][0]["leaks"] == ["gw:{0}:blob:spilt"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_nothing_is_left_behind_however_it_ends(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Neither a process, frozen ones included, nor a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "chaos", "--faults", "freeze", "--minutes", "5"],
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    family: set[int] = set()

    def one_is_frozen() -> bool:
        family.update(descendants(process.pid))
        return any(state.startswith("T") for state in _states(family))

    try:
        eventually(one_is_frozen, "a frozen worker", 90, every_s=0.1)
        process.send_signal(number)
        assert process.wait(timeout=60) == code
    finally:
        process.kill()
    eventually(lambda: not any(map(is_running, family)), f"the end of {family}", 15)
    eventually(lambda: not any(tmp_path.iterdir()), "an empty folder", 15)


def _states(pids: set[int]) -> list[str]:
    """How these processes are: `T` is frozen."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,stat="], capture_output=True, text=True, check=True
    )
    return [state for pid, state in map(str.split, listed.stdout.splitlines()) if int(pid) in pids]


def test_faults_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chaos", "--list"]) == 0
    listed = capsys.readouterr().out
    for fault in FAULTS.values():
        assert fault.name in listed


@pytest.mark.parametrize("wrong", [("--faults", "quake"), ("--seeds", "9-1"), ("--seeds", "a")])
def test_what_makes_no_sense_is_refused(wrong: tuple[str, str]) -> None:
    assert run(["chaos", *wrong]) == 2


def test_some_of_the_load_travels_as_blobs() -> None:
    """So that every fault meets them: each message up to the result holds the question."""
    assert len(LARGE) > CONFIG.blob_bytes
    assert Query(text=LARGE, session_id="s").text == LARGE


def test_a_mark_rides_in_the_query() -> None:
    mark = Mark("slow", "critic", 1500)
    query = Query(text="?", session_id="s", feature=mark.feature)
    assert mark_of(query) == mark
    assert mark_of(query.model_copy(update={"feature": "search"})) is None
    assert mark_of(query.model_copy(update={"feature": None})) is None
    assert mark_of(query.model_copy(update={"feature": "chaos:unheard:critic:1"})) is None


def test_how_long_a_handler_takes_is_a_function_of_query_and_stage() -> None:
    """A redelivery takes as long as the first delivery did."""
    assert natural_s("0-a", "critic") == natural_s("0-a", "critic") != natural_s("0-a", "format")


async def test_a_flaky_handler_fails_once_in_each_process() -> None:
    query = Query(
        query_id="0-a", text="?", session_id="s", feature=Mark("flaky", "understand").feature
    )
    handle = handler_of("understand")
    with pytest.raises(Transient):
        await handle(query)
    assert (await handle(query)).type == "intent"  # type: ignore[attr-defined]
