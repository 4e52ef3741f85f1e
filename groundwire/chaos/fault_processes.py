"""Faults of worker processes: killed, frozen."""

import asyncio
import signal

from .arena import Arena, signal_to
from .plan import Fault, Strike


async def _kill(arena: Arena, strike: Strike) -> None:
    signal_to(await arena.victim(strike), signal.SIGKILL)


async def _kill_stage(arena: Arena, strike: Strike) -> None:
    for worker in arena.supervisor.workers():
        if worker.stage == strike.stage:
            signal_to(worker, signal.SIGKILL)


async def _freeze(arena: Arena, strike: Strike) -> None:
    worker = await arena.victim(strike)
    signal_to(worker, signal.SIGSTOP)
    try:
        await asyncio.sleep(strike.lasts_s)
    finally:
        signal_to(worker, signal.SIGCONT)


PROCESSES = (
    Fault("kill", "kill -9 of one worker", 0.0, 0.0, _kill),
    Fault("kill-stage", "kill -9 of all workers of a stage at once", 0.0, 0.0, _kill_stage),
    Fault(
        "freeze",
        "SIGSTOP of a worker for longer than its liveness key lives, then SIGCONT",
        1.2,
        1.8,
        _freeze,
    ),
)
