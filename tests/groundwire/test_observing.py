"""A worker's port: what it answers of itself, over HTTP."""

import socket
import struct
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bus_system import Lines, hop

from bus import Became, Vitals
from groundwire.health import Answers, listening
from groundwire.metrics import GAUGES, WorkerMetrics
from groundwire.observing import observing
from groundwire.probe import faults_at
from groundwire.readiness import Limits, faults_of_life, faults_of_readiness
from groundwire.settings import load_settings

NOW = 1_000.0
WELL = Vitals("critic", 0, "drafts", read_at=NOW - 1, has_group=True, ticked_at=NOW - 0.2)
LIMITS = Limits(block_s=2.0, oldest_s=60.0)


def get(port: int, path: str) -> tuple[int, str]:
    """Status and body."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"read_at": NOW - 4.1}, "no read came back for 4.1 s"),
        ({"read_at": NOW - 900.0, "is_free": False}, None),
        ({"has_group": False}, "consumer group"),
        ({"ticked_at": 0.0}, "not asked the server yet"),
        ({"ticked_at": NOW - 9.0}, "no answer from the server for 9.0 s"),
        ({"oldest_s": 61.0}, "oldest entry is 61 s old"),
    ],
)
def test_a_worker_is_ready_that_reads_or_had_no_reason_to(
    change: dict[str, Any], fault: str | None
) -> None:
    """Its group is there, the server answers, and nothing waits too long."""
    found = faults_of_readiness([WELL, replace(WELL, lane=1, **change)], now=NOW, limits=LIMITS)
    if fault is None:
        assert found == []
    else:
        (said,) = found
        assert said.startswith("drafts, lane 1: ")
        assert fault in said


def test_a_stuck_loop_is_not_alive() -> None:
    """The process may still answer, its work doesn't go on."""
    assert faults_of_life(0.3) == []
    assert "12.0 s" in faults_of_life(12.0)[0]


def test_the_port_answers_yes_no_and_numbers() -> None:
    """200 and 503 with the reasons, to a probe too; the next free port where one is taken."""
    answers = Answers(list, lambda: ["a", "b"], lambda: ("text/plain", b"x 1\n"))
    with listening("127.0.0.1", 20_000, answers) as port:
        assert get(port, "/livez") == (200, "ok\n")
        assert get(port, "/readyz") == (503, "a\nb\n")
        assert get(port, "/metrics") == (200, "x 1\n")
        assert get(port, "/")[0] == 404
        assert faults_at(f"http://127.0.0.1:{port}/livez") is None
        assert faults_at(f"http://127.0.0.1:{port}/readyz") == "a\nb"
        with listening("127.0.0.1", port, answers) as other:
            assert other > port
            assert get(other, "/livez")[0] == 200


def test_who_asks_and_hangs_up_leaves_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    """A log of JSON lines stays one, whoever scans the port; the next one is answered."""
    answers = Answers(list, list, lambda: ("text/plain", b"x" * 10_000_000))
    with listening("127.0.0.1", 20_200, answers) as port:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as scanning:
                scanning.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                scanning.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                scanning.recv(1)
        assert get(port, "/livez")[0] == 200
    said = capfd.readouterr()
    assert said.out + said.err == ""


def test_metrics_have_base_units_and_no_ids() -> None:
    """Counted by stage, outcome and reason; timed in seconds; what stands comes from the last tick."""
    metrics = WorkerMetrics("critic", lambda: [replace(WELL, backlog=7, open=3, oldest_s=1.5)])
    metrics.settled(hop(Became("emitted")))
    metrics.settled(hop(Became("dead", "permanent", "failed")))
    metrics.settled(hop(Became("emitted"), is_redelivery=True))
    metrics.lagged(0.2)
    kind, body = metrics.text()
    lines = body.decode().splitlines()
    assert kind.startswith("text/plain")
    for wanted in (
        'groundwire_deliveries_total{outcome="emitted",stage="critic"} 2.0',
        'groundwire_deliveries_total{outcome="dead",stage="critic"} 1.0',
        'groundwire_dead_letters_total{reason="permanent",stage="critic"} 1.0',
        'groundwire_results_total{outcome="failed",stage="critic"} 1.0',
        'groundwire_redeliveries_total{stage="critic"} 1.0',
        'groundwire_hop_seconds_count{stage="critic"} 3.0',
        'groundwire_handler_seconds_bucket{le="0.0025",stage="critic"} 3.0',
        'groundwire_loop_lag_seconds_count{stage="critic"} 1.0',
        'groundwire_backlog_entries{lane="0",stage="critic",stream="drafts"} 7.0',
        'groundwire_oldest_entry_seconds{lane="0",stage="critic",stream="drafts"} 1.5',
        'groundwire_open_queries{lane="0"} 3.0',
    ):
        assert wanted in lines
    assert all(f"# TYPE {name} gauge" in lines for name in GAUGES)


def test_a_process_that_is_still_starting_is_alive_and_not_ready(tmp_path: Path) -> None:
    """From the first moment on; without a port nothing listens and nothing is watched."""
    log = Lines()
    with observing("critic", load_settings({"GROUNDWIRE_HEALTH_PORT": "20100"}, tmp_path), log, {}):
        [(event, fields)] = log.lines
        port = fields["port"]
        assert event == "health.listening"
        assert isinstance(port, int)
        assert get(port, "/livez")[0] == 200
        status, said = get(port, "/readyz")
        assert (status, said.startswith("starting")) == (503, True)
        assert get(port, "/metrics")[0] == 200
    with observing("critic", load_settings({}, tmp_path), log, {}) as unobserved:
        assert not unobserved.watch.is_measuring
    assert len(log.lines) == 1
