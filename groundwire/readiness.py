"""Whether a worker lives and is ready, decided by value from what it last saw."""

from collections.abc import Sequence
from dataclasses import dataclass

from bus import Vitals

LAG_S = 5.0
"""A loop that hasn't come round for so long is stuck."""
TICKED_S = 5.0


@dataclass(frozen=True)
class Limits:
    """What is still fine. `oldest_s`: age of the oldest unfinished entry of a stage."""

    block_s: float
    oldest_s: float


def faults_of_life(loop_age_s: float) -> list[str]:
    """Why a process isn't alive: none, or its loop."""
    return [f"the loop is stuck for {loop_age_s:.1f} s"] if loop_age_s > LAG_S else []


def faults_of_readiness(vitals: Sequence[Vitals], *, now: float, limits: Limits) -> list[str]:
    """Why a worker isn't ready, stream by stream. `now`: monotonic seconds."""
    return [
        f"{one.stream}, lane {one.lane}: {fault}"
        for one in vitals
        for fault in _faults(one, now, limits)
    ]


def _faults(one: Vitals, now: float, limits: Limits) -> list[str]:
    if not one.ticked_at:
        return ["not asked the server yet"]
    faults = []
    if now - one.ticked_at > TICKED_S:
        faults.append(f"no answer from the server for {now - one.ticked_at:.1f} s")
    if not one.has_group:
        faults.append("its consumer group is not there")
    if one.is_free and now - one.read_at > 2 * limits.block_s:
        faults.append(f"no read came back for {now - one.read_at:.1f} s")
    if one.oldest_s > limits.oldest_s:
        faults.append(f"its oldest entry is {one.oldest_s:.0f} s old")
    return faults
