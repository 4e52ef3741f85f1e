"""SIGHUP: other settings and another profile under load, by all workers of `up` and by one alone."""

import asyncio
import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
from collections import Counter
from pathlib import Path

import pytest

from bus import Bus
from groundwire import profiles

from .machine import (
    HANDBOOK,
    SCRIPT,
    STAGES,
    Home,
    end,
    eventually,
    is_settled,
    query,
    results_so_far,
    running_up,
    soon,
)

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

QUESTION = "How do I cancel my plan?"


def configure(home: Home, *, version: int, **settings: object) -> None:
    """Write a profile of the home's own in a version, and the settings that name it."""
    shipped = (Path(profiles.__file__).parent / "fast.toml").read_text()
    own = home.folder / "own.toml"
    own.write_text(shipped.replace("version = 1", f"version = {version}", 1))
    lines = {"profile": str(own), **settings}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
    (home.folder / "groundwire.toml").write_text(text)


async def digest_of(bus: Bus, query_id: str) -> set[str]:
    """By which configurations the stages handled a query."""
    return {seen.event.config_digest for seen in await bus.trace(query_id)}


async def loaded(bus: Bus, until: asyncio.Event) -> list[str]:
    """The queries that were submitted until then, a few at a time."""
    asked: list[str] = []
    while not until.is_set():
        asked += await bus.submit_many([query(QUESTION) for _ in range(5)])
        await asyncio.sleep(0.05)
    return asked


async def test_settings_and_profile_change_under_load_and_nothing_is_lost(home: Home) -> None:
    """Each result names the configuration that it came by; a change that can't be made changes nothing."""
    home = Home(home.folder, (("GROUNDWIRE_PROFILE", ""),))
    configure(home, version=1)
    with running_up(home, "--docs", HANDBOOK) as process:
        async with home.connect() as bus:
            first = await bus.submit(query(QUESTION))
            await bus.result(first, timeout_s=30.0)

            configure(home, version=2, concurrency=2)
            moved = asyncio.Event()
            loading = asyncio.create_task(loaded(bus, moved))
            process.send_signal(signal.SIGHUP)
            await soon(lambda: _moved(home, 1), "every worker has gone over")
            moved.set()
            meanwhile = await loading

            configure(home, version=3, lanes=2)
            process.send_signal(signal.SIGHUP)
            eventually(lambda: '"settings.refused"' in home.said(), "the refusal")
            last = await bus.submit(query(QUESTION))
            asked = [first, *meanwhile, last]
            _, results = await results_so_far(bus, "0", len(asked))
            await soon(lambda: is_settled(bus), "no query is open")
            assert (await bus.verify())[0].holds
            (old,), (new,) = await digest_of(bus, first), await digest_of(bus, last)
            used = set().union(*[await digest_of(bus, one) for one in meanwhile])
    assert Counter(result.query_id for result in results) == Counter(asked)
    assert old != new
    assert {old} <= used <= {old, new}
    assert "concurrency" in home.said()
    assert "lanes (from 1 to 2)" in home.said()
    assert not [log for log in home.logs().values() if "Traceback" in log]


async def _moved(home: Home, times: int) -> bool:
    """Whether each worker has taken other settings so often."""
    logs = home.logs()
    return all(logs[f"{stage}-1.log"].count('"settings.changed"') == times for stage in STAGES)


def test_a_worker_alone_reads_its_secrets_again(home: Home, server_url: str) -> None:
    """Its server's password is another one: the file is read again, and a wrong one changes nothing."""
    url = home.folder / "url"
    url.write_text(server_url)
    home = Home(home.folder, (("GROUNDWIRE_REDIS_URL_FILE", str(url)),))
    assert home.run("ingest", HANDBOOK).returncode == 0
    process = home.start("worker", "format")
    try:
        eventually(lambda: '"worker.ready"' in home.said(), "the worker", 60.0)
        url.write_text("redis://:s3cret@")
        process.send_signal(signal.SIGHUP)
        eventually(lambda: '"settings.refused"' in home.said(), "the refusal", 60.0)
        url.write_text(f"{server_url}?db=1")
        process.send_signal(signal.SIGHUP)
        eventually(lambda: '"worker.left"' in home.said(), "the old one's end", 60.0)
    finally:
        end(process)
    said = home.said()
    assert '"changed":["redis_url"]' in said
    assert "s3cret" not in said
    assert said.count('"worker.ready"') == said.count('"worker.left"') == 2
    assert "Traceback" not in said


def test_a_terminal_that_goes_away_ends_a_worker_on_it(home: Home, server_url: str) -> None:
    """Its SIGHUP is no request for other settings: nothing is left behind a closed window."""
    ours, theirs = pty.openpty()
    log = (home.folder / "command.log").open("wb")
    with (
        log,
        os.fdopen(theirs),
        subprocess.Popen(
            [SCRIPT, "worker", "format"],
            cwd=home.folder,
            env=home.environment | {"GROUNDWIRE_REDIS_URL": server_url},
            stdin=theirs,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        ) as process,
    ):
        try:
            eventually(lambda: '"corpus.waiting"' in home.said(), "the worker", 60.0)
            os.close(ours)
            assert process.wait(10.0) == 0
        finally:
            process.kill()
