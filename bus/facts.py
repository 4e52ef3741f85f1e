"""What a server says of itself, for whoever judges it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .backend import Backend
from .clock import time_reply_ms
from .groups import stored_lanes
from .wire import Wire


@dataclass(frozen=True)
class ServerFacts:
    """`lanes`: as lane 0's server stored them at the first start, None before.

    `ahead_s`: its clock against ours, to half a round trip.
    """

    info: Mapping[str, str]
    lanes: int | None
    ahead_s: float


async def ask_server(
    backend: Backend, *, timeout_s: float, clock: Callable[[], float], lane: int = 0
) -> ServerFacts:
    """Ask the server of a lane, and change nothing. `clock`: seconds since the epoch, here."""
    wire = Wire(backend, timeout_s, lane)
    try:
        info = info_of(await wire.call("INFO"))
        lanes = None if lane else await stored_lanes(wire)
        asked = clock()
        server_ms = time_reply_ms(await wire.call("TIME"))
        return ServerFacts(info, lanes, server_ms / 1000 - (asked + clock()) / 2)
    finally:
        await wire.close()


def info_of(reply: Any) -> dict[str, str]:
    """The fields of an INFO reply."""
    if isinstance(reply, dict):
        return {str(name): str(value) for name, value in reply.items()}
    text = reply.decode() if isinstance(reply, bytes) else str(reply)
    lines = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name: value.strip() for name, _, value in lines}
