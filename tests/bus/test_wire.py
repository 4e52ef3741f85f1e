import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from bus_system import System

from bus import Backend
from bus.wire import Wire
from contracts import Misconfigured, Unreachable

pytest_plugins = ("bus_fixtures",)


@pytest.fixture
async def wire(backend: Backend) -> AsyncIterator[Wire]:
    """One connection."""
    opened = Wire(backend, 5.0)
    yield opened
    await opened.close()


async def test_a_cancelled_call_is_cancelled_wherever_it_waits(wire: Wire) -> None:
    """The driver's `wait_for` (Python 3.11) forgets a cancellation that meets a finished send; the wire doesn't.

    A worker that ignores its cancellation would never leave.
    """
    for steps in range(40):
        await wire.call("PING")
        call = asyncio.create_task(wire.call("PING"))
        for _ in range(steps % 10):
            await asyncio.sleep(0)
        if call.cancel():
            await asyncio.wait({call})
            assert call.cancelled(), steps


async def test_a_timeout_around_a_call_is_not_forgotten(wire: Wire) -> None:
    """The same for `asyncio.timeout`, which is a cancellation too."""
    for steps in range(40):
        call = asyncio.create_task(_pings_within(wire, 0.0001 * steps))
        await call


async def _pings_within(wire: Wire, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                await wire.call("PING")
                await asyncio.sleep(0)  # the fake's replies need no wait, so no timer would run


async def test_a_call_cancelled_two_hundred_times_mixes_no_replies(wire: Wire) -> None:
    """A connection whose reply may be under way is dropped, never reused."""
    for number in range(200):
        call = asyncio.create_task(wire.call("ECHO", f"lost {number}"))
        for _ in range(number % 7):
            await asyncio.sleep(0)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        assert await wire.call("ECHO", f"kept {number}") == f"kept {number}".encode()


async def test_calls_at_once_get_their_own_replies(wire: Wire) -> None:
    """One connection serves many tasks, one after another."""
    replies = await asyncio.gather(*(wire.call("ECHO", str(n)) for n in range(100)))
    assert replies == [str(n).encode() for n in range(100)]


async def test_a_script_that_the_server_forgot_is_sent_again(system: System) -> None:
    """SCRIPT FLUSH, or a restart, costs one more round trip."""
    keys = [system.keys.of("queries"), system.keys.alive("understand", "nobody")]
    assert await system.script("leave", keys, ["understand", "nobody"]) == 0
    await system.call("SCRIPT", "FLUSH")
    assert await system.script("leave", keys, ["understand", "nobody"]) == 0


async def test_nobody_listening_is_unreachable() -> None:
    """The driver's errors do not leave the wire."""
    from bus import UrlBackend

    wire = Wire(UrlBackend("redis://127.0.0.1:1"), 1.0)
    with pytest.raises(Unreachable):
        await wire.call("PING")
    await wire.close()


async def test_a_url_of_another_scheme_is_misconfigured() -> None:
    """The message says which schemes there are, and not the password."""
    from bus import UrlBackend

    with pytest.raises(Misconfigured, match="redis://") as refused:
        Wire(UrlBackend("http://user:secret@host"), 1.0)
    assert "secret" not in str(refused.value)
