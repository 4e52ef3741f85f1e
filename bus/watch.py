"""The facts of a worker, for whoever measures it: told hop by hop, or asked for. Without a watch nothing is counted."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from contracts import outcome_of

from .delivery import Settlement
from .fate import DeadLetter, Emit, Park, Retry


class Hop(NamedTuple):
    """One delivery that was settled, or that another worker had settled or taken over meanwhile (`fenced`)."""

    stage: str
    outcome: str
    """emitted, answered, retried, dead, parked, fenced."""
    reason: str
    """Of a dead letter; else empty."""
    result: str
    """What its query ended as: answered, out_of_scope, rejected, failed; empty where it goes on."""
    is_redelivery: bool
    waited_s: float
    """Between the message's making and the handler's start."""
    handled_s: float


class Watch(Protocol):
    """Who is told. Called on the loop, for every delivery: it must be quick, and raise nothing."""

    def settled(self, hop: Hop, /) -> None:
        """A delivery has been settled."""
        ...

    def lagged(self, seconds: float, /) -> None:
        """So much later than it should have the loop came round; told several times a second."""
        ...


@dataclass
class Vitals:
    """How one stage stands in one lane, as its worker last saw it. Times are monotonic seconds.

    Written by the loop and read by any thread: each field is replaced whole.
    """

    stage: str
    lane: int
    stream: str
    read_at: float
    """When a read last came back, with work or without."""
    is_free: bool = True
    """Whether there is reason to read: room in the hand, and the next stages under their mark."""
    has_group: bool = False
    ticked_at: float = 0.0
    in_flight: int = 0
    backlog: int = 0
    oldest_s: float = 0.0
    """Age of the oldest unfinished entry, by its id; 0 where there is none."""
    delayed: int = 0
    open: int = 0


def hop_of(settlement: Settlement, stage: str, *, is_fenced: bool = False) -> Hop:
    """What a settlement tells."""
    delivery, fate = settlement.delivery, settlement.fate
    outcome, reason, result = "fenced", "", ""
    if not is_fenced:
        match fate:
            case Emit(_, status, _):
                outcome = "emitted" if status is None else "answered"
                result = "" if status is None else outcome_of(status)
            case Retry():
                outcome = "retried"
            case DeadLetter(why, _):
                outcome, reason, result = "dead", why, "failed"
            case Park():
                outcome = "parked"
    return Hop(
        stage,
        outcome,
        reason,
        result,
        delivery.deliveries > 1,
        delivery.waited_ms / 1000,
        delivery.handled_s,
    )
