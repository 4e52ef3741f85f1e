"""A system in parts, as an operator runs it: a server of one's own, a corpus, workers one by one."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bus import Bus, StageStatus
from groundwire.embedded import temporary_server

from .machine import HANDBOOK, Home, end


@contextmanager
def server_and_corpus(folder: Path, *variables: tuple[str, str]) -> Iterator[Home]:
    """A server and the handbook, and no worker yet."""
    with temporary_server() as server:
        home = Home(
            folder,
            (
                ("GROUNDWIRE_REDIS_URL_FILE", str(server.url_file)),
                ("GROUNDWIRE_ALIVE_TTL_S", "1"),
                ("GROUNDWIRE_LOG_LEVEL", "debug"),
                *variables,
            ),
        )
        ingested = home.run("ingest", HANDBOOK)
        assert ingested.returncode == 0, ingested.stderr
        yield home


@contextmanager
def workers(home: Home) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Starts `groundwire worker STAGE`, each with a log and variables of its own; all are interrupted afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(stage: str, *variables: tuple[str, str]) -> "subprocess.Popen[bytes]":
        its = replace(home, variables=(*home.variables, *variables))
        started.append(its.start("worker", stage, log=f"{stage}.log"))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            end(process)


async def stage_status(bus: Bus, stage: str) -> StageStatus:
    """What the server knows of a stage."""
    return next(one for one in (await bus.status()).stages if one.stage == stage)
