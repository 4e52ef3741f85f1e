"""`durable=True`: what the server confirms, and what is said where it can't."""

from dataclasses import replace

import pytest
from bus_system import System, query

from contracts import NotDurable

pytest_plugins = ("bus_fixtures",)
pytestmark = pytest.mark.server


async def test_a_durable_submit_returns_when_the_disk_has_it(real: System) -> None:
    """With an append-only file, the id comes back after the file is synced."""
    query_id = await real.bus.submit(query(), durable=True)
    info = await real.call("INFO", "persistence")
    assert b"aof_enabled:1" in info
    assert (await real.verification()).open == 1
    assert query_id


async def test_a_repeated_durable_submit_is_confirmed_too(real: System) -> None:
    """A client that lost the reply repeats it with the id, and gets the same promise."""
    named = real.bus.named(query())
    first = await real.bus.submit(named, durable=True)
    assert await real.bus.submit(named, durable=True) == first
    assert (await real.verification()).accepted == 1


async def test_a_server_without_disk_or_replica_is_said_to_be_not_durable(
    real: System,
) -> None:
    """The query is accepted all the same; the error carries its id."""
    await real.call("CONFIG", "SET", "appendonly", "no")
    real.bus.config = replace(real.bus.config, reply_timeout_s=0.7)
    try:
        with pytest.raises(NotDurable) as refused:
            await real.bus.submit(query(), durable=True)
    finally:
        await real.call("CONFIG", "SET", "appendonly", "yes")
    assert refused.value.query_id
    assert (await real.verification()).open == 1
