"""What every suite shares: the embedded server, one process per pytest worker."""

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.embedded.several import (
    TemporaryCluster,
    TemporarySentinels,
    temporary_cluster,
    temporary_sentinels,
)
from groundwire.threads import compute_on_one
from groundwire.wiring import Intake, ingest_corpus

compute_on_one()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell without job control starts what it runs in the background, and so would be what tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

HANDBOOK = Path(__file__).resolve().parents[1] / "examples" / "handbook"


@pytest.fixture(scope="session")
def server() -> Iterator[TemporaryServer]:
    """A real server for the session. Whoever kills or freezes it brings it back."""
    with temporary_server() as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> Iterator[TemporaryCluster]:
    """Three primaries with a replica each. Whoever kills or freezes a node brings it back."""
    with temporary_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def sentinels() -> Iterator[TemporarySentinels]:
    """A primary with two replicas, and three Sentinels. Whoever kills or freezes a server brings it back."""
    with temporary_sentinels() as running:
        yield running


@pytest.fixture
def server_url(server: TemporaryServer) -> str:
    """The URL of the session's server, with nothing in it."""
    server.flush()
    return server.url


@pytest.fixture(scope="session")
def ingested_handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of the handbook by profile `default`. Copy it; change nothing.

    The first who asks for it embeds and learns for all pytest workers: that takes a dozen seconds.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    root = shared / "ingested-handbook"
    with (shared / "ingested-handbook.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "current").exists():
            ingest_corpus(Intake([HANDBOOK], root))
    return root
