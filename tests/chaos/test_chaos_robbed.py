"""Whole runs of a system that is robbed, or given what isn't its own: each is found out."""

import asyncio
import json
import signal

import pytest

from groundwire.chaos.arena import Arena, signal_to
from groundwire.chaos.faults import FAULTS
from groundwire.chaos.plan import Fault, Strike
from groundwire.cli.app import run

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


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
