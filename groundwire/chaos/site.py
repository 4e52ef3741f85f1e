"""The site of a run: a server of its own, or a test server of the user's, left as it was found.

A server of the user's is looked at first: nothing of anybody's may be drawn into the attack.
"""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bus import Bus, BusConfig, Tls, UrlBackend
from bus.keys import LANES, Keys
from bus.wire import Wire, Wires, text
from contracts import Misconfigured
from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.embedded.several import TemporaryCluster, temporary_cluster

_ALL = "gw:{*}:*"
_PAGE = 1_000
NO_TLS = Tls()
"""No certificates of one's own: `rediss://` trusts what the system trusts."""


@dataclass(frozen=True)
class Site:
    """A server and a folder for the run's own files."""

    url: str
    home: Path
    own: TemporaryServer | None = None
    """The server, where it may be killed and frozen: nobody else's."""
    cluster: TemporaryCluster | None = None
    """The same of a cluster."""
    tls: Tls = NO_TLS
    """The certificates of a guest."""

    @property
    def backend(self) -> UrlBackend:
        """Connections to it."""
        return UrlBackend(self.url, self.tls)


@dataclass(frozen=True)
class Guest:
    """The user's server: attacked where it is empty, or where the user says that it is for tests."""

    url: str
    is_for_tests: bool = False
    tls: Tls = NO_TLS


@asynccontextmanager
async def open_site(
    guest: Guest | None, config: BusConfig, *, clustered: bool = False
) -> AsyncIterator[Site]:
    """The user's server, or one (or a cluster) that is gone afterwards; Misconfigured if it may not be attacked."""
    if guest is None and clustered:
        with tempfile.TemporaryDirectory(prefix="gw-") as home, temporary_cluster() as cluster:
            yield Site(cluster.url, Path(home), cluster=cluster)
        return
    if guest is None:
        with temporary_server("always") as server:
            yield Site(server.url, server.home, server)
        return
    backend = UrlBackend(guest.url, guest.tls)
    wires = Wires(backend, config.reply_timeout_s)
    try:
        found_empty = await _inspect(guest, backend, wires, config)
        try:
            with tempfile.TemporaryDirectory(prefix="gw-") as home:
                yield Site(guest.url, Path(home), tls=guest.tls)
        finally:
            if found_empty:
                await _remove_keys(wires, config.lanes)
    finally:
        await wires.close()


async def _inspect(guest: Guest, backend: UrlBackend, wires: Wires, config: BusConfig) -> bool:
    """Whether the server holds no key of Groundwire; Misconfigured if it holds some that forbid a run."""
    if not any([await keys_like(wires[lane], _ALL) for lane in range(config.lanes)]):
        return True
    if not guest.is_for_tests:
        raise Misconfigured(
            "this server holds data of a Groundwire system, and chaos would attack it: "
            "take an empty server or database, or say --test-server if nobody needs it"
        )
    stored = await wires[0].call("GET", LANES)
    if stored is not None and int(stored) != config.lanes:
        raise Misconfigured(
            f"this server was started with {int(stored)} lanes: --lanes {int(stored)}"
        )
    async with Bus(backend, config) as bus:
        state = await bus.status()
    if any(stage.workers for stage in state.stages):
        raise Misconfigured("workers run on this server and would take chaos's queries: stop them")
    if state.open:
        raise Misconfigured(
            f"{state.open} queries are open on this server: let workers finish them, or take another"
        )
    return False


async def _remove_keys(wires: Wires, lanes: int) -> None:
    """Remove every key of the lanes: the run began without any, so all of them are its own."""
    for lane in range(lanes):
        while found := await keys_like(wires[lane], Keys(lane).of("*")):
            for at in range(0, len(found), _PAGE):
                await wires[lane].call("UNLINK", *found[at : at + _PAGE])


async def keys_like(wire: Wire, pattern: str) -> list[str]:
    """The keys of one server that a pattern fits, sorted."""
    found: set[str] = set()
    cursor = "0"
    while True:
        at, page = await wire.call("SCAN", cursor, "MATCH", pattern, "COUNT", _PAGE)
        found.update(map(text, page))
        cursor = text(at)
        if cursor == "0":
            return sorted(found)
