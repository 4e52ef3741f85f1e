"""The fixtures of the bus suite; a test module asks for them by `pytest_plugins = ("bus_fixtures",)`.

Not a conftest.py: beside tests/conftest.py it would be a second module of that name.
"""

from collections.abc import AsyncIterator

import pytest
from bus_system import FAST, FakeBackend, System, url_backend

from bus import Backend


@pytest.fixture(params=["fake", pytest.param("valkey", marks=pytest.mark.server)])
def backend(request: pytest.FixtureRequest) -> Backend:
    """An empty server: fakeredis, then the embedded Valkey. The same tests hold for both."""
    if request.param == "fake":
        return FakeBackend()
    return url_backend(request.getfixturevalue("server_url"))


@pytest.fixture
async def system(backend: Backend) -> AsyncIterator[System]:
    """A system on either server."""
    async with System(backend, FAST) as opened:
        yield opened


@pytest.fixture
async def real(server_url: str) -> AsyncIterator[System]:
    """A system on the embedded Valkey alone, for what FAKEREDIS_CANNOT."""
    async with System(url_backend(server_url), FAST) as opened:
        yield opened
