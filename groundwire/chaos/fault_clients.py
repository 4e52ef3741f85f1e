"""Faults of clients: a stranger that claims others' work, a burst of submits over the open mark."""

from .arena import OPEN_MARK, Arena
from .plan import Fault, Strike

_GREED = 20


async def _steal(arena: Arena, strike: Strike) -> None:
    stream = arena.work_stream(strike.stage)
    pending = await arena.command("XPENDING", stream, strike.stage, "-", "+", _GREED)
    if pending:
        ids = [entry[0] for entry in pending]
        await arena.command("XCLAIM", stream, strike.stage, "stranger", 0, *ids)


async def _burst(arena: Arena, strike: Strike) -> None:
    await arena.load.burst(3 * OPEN_MARK)


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
