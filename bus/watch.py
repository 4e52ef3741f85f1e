"""The facts of a worker, for whoever measures it: told hop by hop, or asked for. Without a watch nothing is counted."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple, Protocol, assert_never

from contracts import Stage, outcome_of
from contracts.answer import Status
from contracts.topology import RESULTS

from .delivery import Delivery, Settlement
from .fate import DeadLetter, Emit, Fate, Park, Retry
from .settle import Place

_ID = re.compile(r"[A-Za-z0-9._:-]{1,200}")
_TRACED = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_SUBJECT = re.compile(rf'"subject": ?"({_ID.pattern})"'.encode())
_TRACEPARENT = re.compile(rf'"traceparent": ?"({_TRACED.pattern})"'.encode())


class Handling(NamedTuple):
    """One delivery, whatever becomes of it: ids and counts, no text."""

    stage: str
    lane: int
    query_id: str
    """Empty where nothing readable names one."""
    entry: str
    attempt: int
    deliveries: int
    type: str = ""
    message_id: str = ""
    traceparent: str = ""
    """Of its message, as are type, id and state; empty where that couldn't be read."""
    tracestate: str | None = None

    @property
    def trace_id(self) -> str:
        """32 hex digits, or empty."""
        return self.traceparent[3:35] if is_traceparent(self.traceparent) else ""

    def fields(self) -> dict[str, object]:
        """What every log line of a delivery says. A stranger's message may have a text where an id should be."""
        return {
            "query_id": self.query_id if _ID.fullmatch(self.query_id) else "",
            "stage": self.stage,
            "lane": self.lane,
            "entry": self.entry,
            "attempt": self.attempt,
            "trace_id": self.trace_id,
        }


class Became(NamedTuple):
    """What became of a delivery. There are few of them, and each is made once."""

    outcome: str
    """emitted, answered, retried, dead, parked, fenced."""
    reason: str = ""
    """Of a dead letter."""
    result: str = ""
    """What its query ended as: answered, out_of_scope, rejected, failed; empty where it goes on."""
    destination: str = ""
    """The stream that its output went to."""
    error: str = ""
    """The class of what its handler raised."""


class Hop(NamedTuple):
    """One delivery that was settled, or that another worker had settled or taken over meanwhile (`fenced`)."""

    became: Became
    tell: Callable[[], Handling]
    """All about the delivery: most who hear of a hop don't ask."""
    query_id: str
    traceparent: str
    is_redelivery: bool
    """Whether it had been delivered before."""
    waited_s: float
    """Between the message's making and the handler's start."""
    handled_s: float
    started: float = 0.0
    """When its handler was called, on the performance counter; 0 where none was."""


class Watch(Protocol):
    """Who is told. Called on the loop, for every delivery: it must be quick, and raise nothing."""

    started: Callable[[Callable[[], Handling]], None] | None
    """Told in the handler's task before it is called; None: who doesn't ask doesn't pay."""
    is_measuring: bool
    """Whether each tick shall count what `Vitals` tells."""

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


def is_traceparent(text: str) -> bool:
    """Whether it is one: a stranger's message may have any text in its place."""
    return _TRACED.fullmatch(text) is not None


def handling_of(delivery: Delivery, place: Place, query_id: str = "") -> Handling:
    """What is known of a delivery; where its envelope hasn't been read, what can be seen of that."""
    head = delivery.head
    if head is None:
        raw = delivery.raw or b""
        query_id = query_id or delivery.subject or _seen(_SUBJECT, raw)
        traceparent = _seen(_TRACEPARENT, raw)
    else:
        traceparent = head.traceparent
    return Handling(
        place.stage.name,
        place.keys.lane,
        query_id,
        delivery.id,
        delivery.attempt,
        delivery.deliveries,
        delivery.type,
        "" if head is None else head.id,
        traceparent,
        None if head is None else head.tracestate,
    )


def _seen(what: re.Pattern[bytes], raw: bytes) -> str:
    found = what.search(raw)
    return "" if found is None else found[1].decode()


def hop_of(settlement: Settlement, place: Place, *, is_fenced: bool = False) -> Hop:
    """What a settlement tells."""
    delivery, query_id, head = settlement.delivery, settlement.subject, settlement.delivery.head
    return Hop(
        _FENCED if is_fenced else _became(settlement.fate, place.stage),
        partial(handling_of, delivery, place, query_id),
        query_id,
        "" if head is None else head.traceparent,
        delivery.deliveries > 1,
        delivery.waited_ms / 1000,
        delivery.handled_s,
        delivery.started,
    )


_FENCED, _PARKED = Became("fenced"), Became("parked")


def _became(fate: Fate, stage: Stage) -> Became:
    if isinstance(fate, Emit):  # nearly all are; a match takes four times as long to say so
        kind, status, _ = fate
        return _emitted(stage.emits[kind]) if status is None else _answered(status)
    match fate:
        case Retry(_, _, raised):
            return Became("retried", error=raised)
        case DeadLetter(reason, said):
            raised = said if said.isidentifier() else ""  # a sentence may quote a stranger
            return Became("dead", reason, "failed", "results.failed", raised)
        case Park():
            return _PARKED
        case _:
            assert_never(fate)


@cache
def _emitted(stream: str) -> Became:
    return Became("emitted", destination=stream)


@cache
def _answered(status: Status) -> Became:
    return Became("answered", result=outcome_of(status), destination=RESULTS[status])
