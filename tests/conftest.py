"""What every suite shares: the embedded server, one process per pytest worker."""

from collections.abc import Iterator

import pytest

from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.embedded.several import (
    TemporaryCluster,
    TemporarySentinels,
    temporary_cluster,
    temporary_sentinels,
)
from groundwire.threads import compute_on_one

compute_on_one()


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
