"""Faults of the network between the server and everyone else, made by the proxy."""

import asyncio

from bus.wire import script_sha

from .arena import Arena
from .plan import Fault, Strike

_DELAY_S = 0.03
_REPLIES = 8


async def _delay(arena: Arena, strike: Strike) -> None:
    async with arena.proxy.delayed(_DELAY_S):
        await asyncio.sleep(strike.lasts_s)


async def _cut(arena: Arena, strike: Strike) -> None:
    arena.proxy.cut()


async def _refuse(arena: Arena, strike: Strike) -> None:
    async with arena.proxy.refusing():
        await asyncio.sleep(strike.lasts_s)


async def _stall(arena: Arena, strike: Strike) -> None:
    async with arena.proxy.stalled():
        await asyncio.sleep(strike.lasts_s)


async def _lose_replies(arena: Arena, strike: Strike) -> None:
    """Of each kind of request that changes something, several replies, one after the other."""
    kinds = [script_sha(name).encode() for name in ("submit", "settle", "claim", "tick")]
    kinds.append(b"XREADGROUP")
    for _ in range(_REPLIES):
        async with asyncio.TaskGroup() as group:
            for request in kinds:
                group.create_task(arena.proxy.lose_reply(request, within_s=0.5))


NETWORK = (
    Fault(
        "delay",
        f"every packet {_DELAY_S * 1000:.0f} ms later",
        1.0,
        2.0,
        _delay,
        needs="one server",
    ),
    Fault("cut", "all connections reset", 0.0, 0.0, _cut, needs="one server"),
    Fault(
        "refuse",
        "all connections reset, new ones refused for a while",
        0.5,
        2.0,
        _refuse,
        needs="one server",
    ),
    Fault(
        "stall",
        "connections stay open and nothing moves; late packets arrive",
        1.0,
        2.5,
        _stall,
        needs="one server",
    ),
    Fault(
        "replies",
        "single replies are lost: of submits, reads, settles, claims and ticks",
        1.0,
        1.0,
        _lose_replies,
        needs="one server",
    ),
)
