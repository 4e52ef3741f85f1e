"""Several servers under load, struck: no accepted query is lost, none has two results, `verify` is exact."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from bus_load import loaded
from bus_system import FAST, System, query, url_backend

from bus.slots import slot_of
from bus.wire import Wire
from contracts import Unreachable
from groundwire.embedded import TemporaryServer, temporary_server
from groundwire.embedded.several import TemporaryCluster, TemporarySentinels

pytestmark = pytest.mark.server
THREE = replace(FAST, lanes=3, reply_timeout_s=1.0)
STRUCK = slot_of(0)


def kill(cluster: TemporaryCluster) -> None:
    """Kill -9 a primary, have its replica take over, bring it back."""
    primary = cluster.primary_of(STRUCK)
    primary.kill()
    cluster.primary_of(STRUCK)
    primary.start()
    cluster.await_whole()


def fail_over(cluster: TemporaryCluster) -> None:
    """A replica takes over by agreement."""
    cluster.fail_over(STRUCK)


def other_than(serving: TemporaryServer, cluster: TemporaryCluster) -> TemporaryServer:
    """A primary that another lane is on."""
    found = (cluster.primary_of(slot_of(lane)) for lane in range(4))
    return next(node for node in found if node is not serving)


def migrate(cluster: TemporaryCluster) -> None:
    """Key by key, to and fro, and stay split for a moment."""
    for _ in range(2):
        serving = cluster.primary_of(STRUCK)
        cluster.migrate(STRUCK, other_than(serving, cluster), pause=lambda: time.sleep(0.05))


def hand_over(cluster: TemporaryCluster) -> None:
    """In one step, to and fro."""
    for _ in range(2):
        serving = cluster.primary_of(STRUCK)
        cluster.hand_over(STRUCK, other_than(serving, cluster))


@pytest.fixture
async def three(cluster: TemporaryCluster) -> AsyncIterator[System]:
    """An empty cluster with a lane on each of its nodes, or so."""
    cluster.flush()
    async with System(url_backend(cluster.url), THREE) as opened:
        yield opened


@pytest.mark.parametrize("strike", [fail_over, migrate, hand_over, kill])
async def test_a_cluster_that_is_struck_under_load_loses_and_repeats_nothing(
    three: System, cluster: TemporaryCluster, strike: Callable[[TemporaryCluster], None]
) -> None:
    """Durable submits go on through it, and every one of them has one result."""
    async with loaded(three) as load:
        await asyncio.to_thread(strike, cluster)
        await load.more(40)


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_sentinel_set_that_fails_over_under_load_loses_and_repeats_nothing(
    sentinels: TemporarySentinels, is_killed: bool
) -> None:
    """By agreement, or since its primary was killed."""
    sentinels.flush()

    def strike() -> None:
        if not is_killed:
            sentinels.fail_over()
            return
        primary = sentinels.primary
        primary.kill()
        sentinels.await_other_than(primary)
        primary.start()

    async with (
        System(url_backend(sentinels.url), replace(THREE, lanes=1)) as system,
        loaded(system) as load,
    ):
        await asyncio.to_thread(strike)
        await load.more(40)


async def test_a_server_that_becomes_a_replica_is_left() -> None:
    """A script's refused first write tells it as well as a command's error: the next call asks where to go."""
    with temporary_server() as server:
        async with System(url_backend(server.url), FAST) as system:
            wire = Wire(system.backend, 2.0)
            await wire.call("PING")
            assert server.ask("REPLICAOF", "127.0.0.1", "1") == "+OK"
            before = wire.connection_number
            with pytest.raises(Unreachable, match="replica"):
                await wire.call("SET", "x", 1)
            with pytest.raises(Unreachable):
                await system.bus.submit(query())
            assert server.ask("REPLICAOF", "NO", "ONE") == "+OK"
            await wire.call("SET", "x", 1)
            assert wire.connection_number == before + 1
            await wire.close()
