"""One reply is lost between server and client or worker: one result, without waiting for a lease."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from bus_system import STAGES, System, leave, query, ready, url_backend
from soak_times import Times, both_lengths

from bus.wire import script_sha
from groundwire import noop
from groundwire.chaos.proxy import Proxy

pytestmark = pytest.mark.server
SOON_S = 3.0
"""A reconnection and two ticks, with room for a busy machine; a lease is 60 s."""


@pytest.fixture
async def proxy(server_url: str) -> AsyncIterator[Proxy]:
    """Between the server and whoever is told its URL."""
    async with Proxy(server_url) as opened:
        yield opened


class Counting:
    """An `understand` that counts its runs, and remembers what it was asked."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.asked: dict[str, str] = {}

    async def __call__(self, asked: Any) -> Any:
        """Count, and do nothing well."""
        self.ran[asked.query_id] += 1
        self.asked[asked.query_id] = asked.text
        return await noop.understand(asked)


REQUESTS = {
    "submit": script_sha("submit").encode(),
    "read": b"XREADGROUP",
    "settle": script_sha("settle").encode(),
}


@both_lengths
@pytest.mark.parametrize("reply", REQUESTS)
async def test_a_lost_reply_costs_no_result_no_second_run_and_no_lease(
    reply: str, times: Times, proxy: Proxy, server_url: str
) -> None:
    """Of a submit, a read or a settle: accepted once, run once, answered once, within seconds."""
    handler = Counting()
    async with (
        System(url_backend(server_url), times.config) as direct,
        System(url_backend(proxy.url), times.config) as behind,
        direct.running(*STAGES[1:]),
    ):
        running = behind.start("understand", handler)
        await ready(running)
        await behind.ask("warm: connections are there")
        losing = asyncio.create_task(proxy.lose_reply(REQUESTS[reply], within_s=10))
        if reply == "read":
            assert await losing, "the next read is the one whose reply will be lost"
        else:
            await asyncio.sleep(0)
        began = time.monotonic()
        query_id = await behind.bus.submit(query("once"))
        result = await direct.bus.result(query_id)
        took_s = time.monotonic() - began
        assert await losing
        found = await direct.settled()
        await leave(running)
    assert result.query_id == query_id
    assert (found.accepted, found.outcomes["answered"]) == (2, 2)
    assert handler.ran[query_id] == 1
    assert took_s < min(SOON_S, 2 * times.config.lease_s), took_s


@both_lengths
async def test_a_worker_cancelled_two_hundred_times_mid_read_mixes_and_strands_nothing(
    times: Times, server_url: str
) -> None:
    """Under one name and under new ones: every query is answered once, with its own words."""
    handler = Counting()
    async with System(url_backend(server_url), times.config) as system:
        asked: dict[str, str] = {}
        for number in range(200):
            name = "the same" if number % 2 else f"another {number}"
            running = system.start("understand", handler, consumer=name)
            await ready(running)
            text = f"question {number}"
            submitting = asyncio.create_task(system.bus.submit(query(text)))
            await asyncio.sleep(number % 10 / 1000)  # into the read, its reply, or what follows
            await running.vanish()
            asked[await submitting] = text
        async with system.running(handlers={"understand": handler}):
            found = await system.settled()
            results = [await system.bus.result(query_id) for query_id in asked]
    assert [result.query_id for result in results] == list(asked)
    assert handler.asked == asked, "no reply of one was taken for another's"
    assert found.accepted == found.outcomes["answered"] == 200
    assert (found.outcomes["failed"], found.dropped) == (0, 0)
