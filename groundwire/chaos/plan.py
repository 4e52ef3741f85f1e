"""The plan of a run: which fault, when, for how long, on whom. A pure function of the seed."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from contracts import TOPOLOGY

if TYPE_CHECKING:
    from .arena import Arena

OVERLAPPING = 0.2
"""The share of faults that begin in the middle of the one before."""
_FIRST_S = 1.0
_PAUSE_S = (0.2, 0.6)


@dataclass(frozen=True)
class Strike:
    """One fault of a plan.

    It begins at `at_s`, or later: when all before it are over and recovered from, unless it `overlaps`
    the one before. `pick` is a large number: a victim, or a lane, is the one at `pick` modulo how many there are.
    """

    number: int
    fault: str
    at_s: float
    lasts_s: float
    stage: str
    pick: int
    overlaps: bool


Need = Literal["any", "own server", "one server", "own cluster"]
"""Where a fault makes sense: anywhere; where nobody else uses the server; where the network to it is ours; on a
cluster that nobody else uses."""

Inflict = Callable[["Arena", Strike], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """A kind of fault: its name, what it does to whom, how long it lasts, and how it is done.

    `inflict` returns when the fault is over, and undoes it however it ends.
    """

    name: str
    what: str
    shortest_s: float
    longest_s: float
    inflict: Inflict = field(repr=False, compare=False)
    needs: Need = "any"


def plan(seed: int, faults: Sequence[Fault], minutes: float | None = None) -> tuple[Strike, ...]:
    """Every fault once in an order of the seed's, or round after round until the minutes are over."""
    drawn = random.Random(f"groundwire chaos {seed}")  # noqa: S311 - meant to be repeatable
    stages = [stage.name for stage in TOPOLOGY.stages]
    strikes: list[Strike] = []
    at_s, overlaps = _FIRST_S, False
    while faults:
        for fault in drawn.sample(faults, len(faults)):
            if minutes is not None and at_s >= minutes * 60:
                return tuple(strikes)
            lasts_s = round(drawn.uniform(fault.shortest_s, fault.longest_s), 3)
            stage, pick = drawn.choice(stages), drawn.randrange(1 << 32)
            strikes.append(Strike(len(strikes), fault.name, at_s, lasts_s, stage, pick, overlaps))
            overlaps = drawn.random() < OVERLAPPING
            pause_s = drawn.uniform(*_PAUSE_S)
            at_s = round(at_s + (lasts_s / 2 if overlaps else lasts_s + pause_s), 3)
        if minutes is None:
            break
    return tuple(strikes)
