"""A test server of the user's: guarded, spared what would hurt all of it, left as it was."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from e2e.machine import descendants
from tls_front import Papers, tls_front

from bus import Bus, Tls, UrlBackend, Worker
from bus.wire import Wire
from contracts import TOPOLOGY, Misconfigured, Query
from groundwire.chaos.arena import CONFIG, Setup
from groundwire.chaos.campaign import Campaign, run_seed
from groundwire.chaos.faults import faults_named
from groundwire.chaos.site import Guest, open_site
from groundwire.chaos.worker import Brief
from groundwire.cli.app import run
from groundwire.embedded import temporary_server
from groundwire.embedded.process import is_running
from groundwire.noop import HANDLERS

pytestmark = [pytest.mark.server, pytest.mark.timeout(120)]


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def url() -> Iterator[str]:
    """An empty server that belongs to nobody here."""
    with temporary_server() as server:
        yield server.url


@pytest.fixture
async def wire(url: str) -> AsyncIterator[Wire]:
    """A raw connection to it."""
    opened = Wire(UrlBackend(url), 5.0)
    yield opened
    await opened.close()


def test_a_run_on_a_guest_leaves_out_what_needs_a_server_and_cleans_up(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named in the JSON; twice in a row, so that the second finds no key of the first."""
    command = ("chaos", "--url", url, "--faults", "kill,server-kill,types", "--queries", "30")
    assert run((*command, "--seeds", "1-2", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"] == ["server-kill"]
    assert {one["fault"] for one in told["runs"][1]["faults"]} == {"kill", "types"}


async def test_ctrl_c_leaves_neither_keys_nor_processes(
    url: str, wire: Wire, tmp_path: Path
) -> None:
    """In the middle of a fault that has keys put aside; what others keep there stays."""
    await wire.call("SET", "theirs", "1")
    command = ("chaos", "--url", url, "--faults", "types,freeze", "--minutes", "5")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from groundwire.cli import main; main()", *command),
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(90):
            while not await wire.call("KEYS", "gw:*:chaos:aside"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            family = descendants(process.pid)
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 130
    finally:
        if process.returncode is None:
            process.kill()
    assert await wire.call("KEYS", "*") == [b"theirs"]
    assert os.listdir(tmp_path) == []
    assert len(family) > len(TOPOLOGY.stages)
    assert not any(map(is_running, family))


async def test_only_the_run_s_own_keys_are_removed(url: str, wire: Wire) -> None:
    """What others keep on the server stays."""
    await wire.call("SET", "theirs", "1")
    async with open_site(Guest(url), CONFIG), Bus(UrlBackend(url), CONFIG):
        assert await wire.call("DBSIZE") > 1
    assert await wire.call("KEYS", "*") == [b"theirs"]


async def test_a_server_with_data_is_refused_unless_it_is_said_to_be_for_tests(
    url: str, wire: Wire
) -> None:
    """Then what it held before is no part of the books, and all stays."""
    async with Bus(UrlBackend(url), CONFIG):
        pass
    with pytest.raises(Misconfigured, match="--test-server"):
        async with open_site(Guest(url), CONFIG):
            pass
    chosen = faults_named("scripts")
    setup = Setup(guest=Guest(url, is_for_tests=True))
    for seed in (1, 2):
        report = await run_seed(Campaign(setup, chosen, queries=1), seed, lambda progress: None)
        assert report.holds, report.wrong
    kept = int(await wire.call("XLEN", "gw:{0}:results.answered"))
    assert kept > report.account.results


async def test_a_server_with_other_lanes_open_queries_or_workers_is_refused(
    url: str, wire: Wire
) -> None:
    """Also where it is for tests: its books would not be the run's."""

    async def refusal(lanes: int = 1) -> str:
        guest = Guest(url, is_for_tests=True)
        with pytest.raises(Misconfigured) as refused:
            async with open_site(guest, replace(CONFIG, lanes=lanes)):
                pass
        return str(refused.value)

    async with Bus(UrlBackend(url), CONFIG) as bus:
        await bus.submit(Query(text="?", session_id="s"))
    assert "--lanes 1" in await refusal(lanes=2)
    assert "1 queries are open" in await refusal()
    worker = Worker(
        TOPOLOGY.stage("critic"),
        HANDLERS["critic"],
        backend=UrlBackend(url),
        consumer="theirs",
        config=CONFIG,
    )
    running = asyncio.create_task(worker.run())
    await worker.ready.wait()
    await wire.call("XREADGROUP", "GROUP", "critic", "theirs", "STREAMS", "gw:{0}:drafts", ">")
    assert "workers run" in await refusal()
    worker.stop()
    await running


def test_faults_that_are_all_left_out_are_no_run(url: str) -> None:
    assert run(("chaos", "--url", url, "--faults", "server-kill,memory")) == 2


def test_a_server_that_is_not_there_is_no_system() -> None:
    assert run(("chaos", "--url", "redis://127.0.0.1:1/0")) == 3


def test_the_word_for_test_servers_needs_a_server() -> None:
    assert run(("chaos", "--test-server")) == 2


def test_a_guest_is_spoken_to_with_the_certificates_of_the_settings(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the account, by the proxy for clients and workers; without them it says which to set."""
    papers = Papers.make(tmp_path)
    with tls_front(url, papers.context(asks_clients=True)) as secured:
        few = ("--faults", "cut", "--workers", "1", "--queries", "20")
        command = ("chaos", "--url", secured, *few, "--json")
        assert run(command) == 3
        assert "GROUNDWIRE_REDIS_TLS_CA" in capsys.readouterr().err
        monkeypatch.setenv("GROUNDWIRE_REDIS_TLS_CA", str(papers.ca))
        monkeypatch.setenv("GROUNDWIRE_REDIS_TLS_CERT", str(papers.cert))
        monkeypatch.setenv("GROUNDWIRE_REDIS_TLS_KEY", str(papers.key))
        assert run(command) == 0
        told = json.loads(capsys.readouterr().out)
    assert (told["lost"], told["duplicates"], told["verify"]) == (0, 0, True)


def test_workers_of_several_servers_get_the_certificates_too(tmp_path: Path) -> None:
    """No proxy stands before these: where the files are is in the brief."""
    tls = Tls(tmp_path / "ca.pem", tmp_path / "own.pem")
    brief = Brief("rediss+cluster://node", CONFIG, tls)
    brief.write(tmp_path / "brief.json")
    assert Brief.read(tmp_path / "brief.json") == brief
