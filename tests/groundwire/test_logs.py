"""Logs: their names, what they may hold, and how they are written."""

import ast
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bus_system import HANDLING, NOOP, STAGES, FakeBackend, Lines, System, hop, query

from bus import Became
from contracts import Permanent, Transient, Value
from groundwire import logs
from groundwire.narrating import Narrator
from groundwire.sink import Sink

ROOT = Path(__file__).parents[2]
QUESTION = "Where do the guaranteed marmots sleep?"
EMITTED = Became("emitted")


def said_in(folder: str) -> Iterator[str]:
    """Every event that code of a package tells a log by its name."""
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value in set(logs.EVENTS):
                yield str(node.value)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in ("log", "_log"):
                    yield str(node.args[0].value)


def test_every_event_has_its_level_and_its_line_in_the_documentation() -> None:
    """What code tells, what logs know, and what operators read are the same names at the same levels."""
    page = (ROOT / "docs" / "operations.md").read_text().partition("## Logs")[2].partition("## ")[0]
    rows = re.findall(r"^\| (`[a-z_.`, ]+`) \| (debug|info|warning) \|", page, re.MULTILINE)
    documented = {name: level for names, level in rows for name in re.findall("`(.+?)`", names)}
    known = {name: "warning" if loud == "trouble" else loud for name, loud in logs.EVENTS.items()}
    assert documented == known
    composed = {f"query.{result}" for result in ("answered", "out_of_scope", "rejected")}
    composed |= {
        f"delivery.{outcome}" for outcome in ("emitted", "retried", "dead", "parked", "fenced")
    }
    said = {event for folder in ("bus", "groundwire") for event in said_in(folder)}
    assert said | composed | {"log.dropped"} == set(known)


def test_a_line_has_the_ids_of_its_delivery() -> None:
    """Query, stage, lane, entry, attempt and trace, whatever is told; the reason where there is one."""
    log = Lines()
    narrator = Narrator(log, is_verbose=True)
    assert narrator.started is not None
    narrator.started(lambda: HANDLING)
    narrator.settled(hop(EMITTED))
    narrator.settled(hop(Became("dead", "permanent", "failed", error="Permanent")))
    narrator.settled(hop(Became("answered", result="rejected")))
    names = [name for name, _ in log.lines]
    assert names == ["delivery.started", "delivery.emitted", "delivery.dead", "query.rejected"]
    ids = {"query_id": "0-a", "stage": "critic", "lane": 0, "entry": "1-0", "attempt": 1}
    for _, fields in log.lines:
        assert fields.items() >= (ids | {"trace_id": "a" * 32}).items()
    assert log.lines[2][1]["reason"] == "permanent"


def test_what_goes_on_as_it_should_is_told_once_a_query() -> None:
    """Above level debug a hop is silent, and nobody is asked before the handler; the end of a query is told."""
    log = Lines()
    narrator = Narrator(log, is_verbose=False)
    assert narrator.started is None
    narrator.settled(hop(EMITTED))
    assert log.lines == []
    narrator.settled(hop(Became("answered", result="answered")))
    assert log.count("query.answered") == 1


def test_an_id_that_is_a_text_is_not_told() -> None:
    """A stranger's message may hold anything where an id should be."""
    stranger = HANDLING._replace(query_id=QUESTION, traceparent=f"00-{QUESTION}")
    assert stranger.fields()["query_id"] == stranger.fields()["trace_id"] == ""


async def test_no_log_holds_a_piece_of_a_question() -> None:
    """However its delivery ends, at level debug: accepted, started, retried, dead, answered."""
    lines = Lines()
    narrator = Narrator(lines, is_verbose=True)
    tried = []

    async def critic(draft: object) -> Value:
        tried.append(draft)
        if len(tried) == 1:
            raise Transient(f"again: {QUESTION}")
        if len(tried) == 2:
            raise Permanent(QUESTION)
        return await NOOP["critic"](draft)

    async with System(FakeBackend()) as system:
        system.bus._log = lines
        workers = [
            system.start(stage, critic if stage == "critic" else None, watch=narrator)
            for stage in STAGES
        ]
        for number in range(2):
            await system.bus.result(await system.bus.submit(query(f"{QUESTION} {number}")))
        stranger = json.dumps({"subject": QUESTION, "traceparent": QUESTION, QUESTION: 1})
        await system.add("intents", "event", stranger)
        await system.add("intents", QUESTION, QUESTION)
        await system.settled()
        for running in workers:
            await running.stop()
            lines.lines += running.log.lines
    told = {name for name, _ in lines.lines}
    wanted = {
        "query.accepted",
        "delivery.started",
        "delivery.retried",
        "delivery.dead",
        "query.answered",
    }
    assert wanted <= told <= set(logs.EVENTS)
    said = repr(lines.lines)
    runs = (QUESTION[at : at + 12] for at in range(len(QUESTION) - 11))
    assert [run for run in runs if run in said] == []


def test_lines_are_written_whole_and_in_order(tmp_path: Path) -> None:
    """Of several threads too; an exit writes what is left."""
    program = (
        "import threading; from groundwire import logs; logs.configure('info', as_json=True)\n"
        "log = logs.bus_log()\n"
        "def tell(who):\n"
        "    for number in range(500): log('worker.ready', who=who, number=number)\n"
        "threads = [threading.Thread(target=tell, args=(who,)) for who in range(3)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {line["level"] for line in lines} == {"info"}
    for who in range(3):
        assert [line["number"] for line in lines if line["who"] == who] == list(range(500))


def test_a_reader_that_does_not_read_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are kept for it, those above a number are counted; it gets them in order once it reads."""
    monkeypatch.setattr("groundwire.sink.KEPT", 100)
    inlet, outlet = os.pipe()
    sink = Sink(outlet)
    line = b"x" * 4000
    for _ in range(400):
        sink.put(line)
    sink.flush(within_s=0.05)
    read = bytearray()
    ended = threading.Event()

    def take() -> None:
        while b"log.dropped" not in read:
            read.extend(os.read(inlet, 65536))
        ended.set()

    reader = threading.Thread(target=take, daemon=True)
    reader.start()
    assert ended.wait(10.0)
    reader.join()
    *lines, dropped = [part for part in bytes(read).split(b"\n") if part]
    assert set(lines) == {line}
    assert len(lines) + json.loads(dropped)["lines"] == 400
    os.close(inlet)
    os.close(outlet)


CRASHING = """
import asyncio, gc, threading
from groundwire import logs
from groundwire.crash import tell_crashes

SAID = "90 days, " + "guaranteed"

def fail():
    raise ValueError(SAID)

async def crash():
    async def task():
        fail()
    forgotten = asyncio.create_task(task())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del forgotten
    gc.collect()
    async with asyncio.TaskGroup() as group:
        group.create_task(task())

logs.configure("info", as_json=True)
tell_crashes("critic")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
asyncio.run(crash())
"""


def test_a_crash_is_told_by_its_class_and_its_place_alone() -> None:
    """Of a thread, a task and the process: an error's words may be a draft's, so no traceback is printed."""
    ran = subprocess.run(
        [sys.executable, "-c", CRASHING], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 1
    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    assert [(line["event"], line["error"]) for line in lines] == [
        ("task.failed", "ValueError"),
        ("task.failed", "ValueError"),
        ("worker.crashed", "ExceptionGroup ValueError"),
    ]
    assert {line["stage"] for line in lines} == {"critic"}
    assert all(line["at"][-1].endswith(" fail") for line in lines)
    assert "guaranteed" not in ran.stdout + ran.stderr


def test_a_line_for_people_is_one_line_that_steers_no_terminal() -> None:
    """Whatever a file or a stranger is named; JSON escapes it by itself."""
    code = (
        "from groundwire import logs; logs.configure('info', as_json=False); "
        r"logs.bus_log()('corpus.failed', error='a\x1b[2J\x9b\u202e', root='b\nquery'); logs.flush()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert not {"\x1b", "\x9b", "\u202e"} & set(ran.stderr)
    assert "corpus.failed" in ran.stderr
