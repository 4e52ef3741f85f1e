"""Faults of clients: a stranger that claims others' work, a burst of submits over the open mark."""

import asyncio

from .arena import OPEN_MARK, Arena
from .plan import Fault, Strike

_GREED = 20
_TRIES, _TRY_S = 100, 0.02
_STEAL = """
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', ARGV[2])
if pending.err then return 0 end
for _, entry in ipairs(pending) do redis.pcall('XCLAIM', KEYS[1], ARGV[1], 'stranger', 0, entry[1]) end
return #pending
"""


async def _steal(arena: Arena, strike: Strike) -> None:
    stream = arena.work_stream(strike)
    for _ in range(_TRIES):
        if await arena.command("EVAL", _STEAL, 1, stream, strike.stage, _GREED):
            return
        await asyncio.sleep(_TRY_S)


async def _burst(arena: Arena, strike: Strike) -> None:
    await arena.load.burst(3 * OPEN_MARK * arena.direct.config.lanes)


CLIENTS = (
    Fault("stranger", "someone claims pending work of a stage and does nothing", 0.0, 0.0, _steal),
    Fault(
        "burst",
        "three times as many submits at once as may be open: some are refused, none lost",
        1.0,
        1.0,
        _burst,
    ),
)
