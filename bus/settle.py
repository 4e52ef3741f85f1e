"""Settling: fates become one script call. Everything that leaves a stage leaves here, in one step with its ack."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import assert_never

from contracts import Stage, outcome_of
from contracts.answer import Status
from contracts.envelope import to_ms
from contracts.event import DeadReason, Outcome, encode_event
from contracts.topology import RESULTS

from .blob import Blob, blob_of, reference
from .config import BusConfig
from .delivery import Settlement
from .failed import dead_record, raw_bytes
from .fate import DeadLetter, Emit, Park, Retry
from .keys import Keys
from .wire import Arg


@dataclass(frozen=True)
class Place:
    """Where a worker stands: its stage and lane, its consumer's name, its configuration's digest.

    `used_digest` is asked right after a handler, in its task: the configuration may change while a worker runs.
    """

    stage: Stage
    keys: Keys
    consumer: str
    config: BusConfig
    configdigest: str
    used_digest: Callable[[], str] | None = None

    @property
    def stream(self) -> str:
        """The key of the stage's own work stream."""
        return self.keys.of(self.stage.consumes)


@dataclass
class _Call:
    """The script's keys and arguments while they are put together."""

    index: dict[str, int]
    args: list[Arg] = field(default_factory=list)

    def key(self, name: str) -> int:
        """The 1-based index of a key, added at its first use."""
        return self.index.setdefault(name, len(self.index) + 1)


def settle_call(
    settlements: Sequence[Settlement], place: Place, now: datetime
) -> tuple[list[str], list[Arg]]:
    """The keys and arguments of settle.lua for a batch."""
    call = _Call(dict(_fixed_keys(place.keys, place.stage.consumes)))
    # Usually in order; whatever lies outside of the first and the last is looked up one by one.
    first, last = settlements[0].delivery.id, settlements[-1].delivery.id
    call.args += [place.stage.name, place.consumer, first, last]
    call.args += [place.config.events_kept, len(settlements)]
    stamp = now.isoformat()
    for item in settlements:
        _add_item(call, item, place, now, stamp)
    return list(call.index), call.args


@cache
def _fixed_keys(keys: Keys, stream: str) -> Mapping[str, int]:
    """The keys that every call has, numbered as settle.lua expects them."""
    fixed = [
        *(keys.of(stream), keys.open, keys.counters, keys.events, keys.dead),
        *(keys.delayed(stream), keys.delayed_body(stream), keys.replaying, keys.parked),
    ]
    return {name: number for number, name in enumerate(fixed, start=1)}


def _add_item(call: _Call, item: Settlement, place: Place, now: datetime, stamp: str) -> None:
    delivery, fate = item.delivery, item.fate
    if delivery.blob is not None and not isinstance(fate, Retry | Park):
        call.args += ["spend", call.key(place.keys.blob(delivery.blob))]
    match fate:
        case Emit() if fate.status is not None:
            event = _event(item, place, stamp, "answered", fate.scores)
            call.args += ["result", delivery.id, event, *_result(call, item, place, fate.status)]
        case Emit():
            event = _event(item, place, stamp, "emitted", fate.scores)
            destination = call.key(place.keys.of(place.stage.emits[fate.kind]))
            blob = _blob(item, place, now)
            if blob is not None:
                call.args += ["store", call.key(blob.key), blob.ttl_ms, blob.body]
            body = item.body if blob is None else blob.reference
            call.args += ["emit", delivery.id, event, destination, body]
        case Retry(delay_ms, attempt, error):
            event = _event(item, place, stamp, "retried", error=error)
            call.args += ["retry", delivery.id, event, delay_ms, attempt, _again(item)]
        case DeadLetter(reason, error):
            event = _event(item, place, stamp, "dead", reason=reason, error=error)
            call.args += ["dead", delivery.id, event, *_dead(call, item, fate, place, now)]
        case Park(version):
            event = _event(item, place, stamp, "parked")
            name = f"{place.stage.consumes}:v{version}"
            destination = call.key(place.keys.of(name))
            call.args += ["park", delivery.id, event]
            call.args += [destination, name, delivery.attempt, _again(item)]
        case _:
            assert_never(fate)


def _blob(item: Settlement, place: Place, now: datetime) -> Blob | None:
    """The blob of what leaves, named after the entry that it came of: each has one output."""
    if len(item.body) <= place.config.blob_bytes:
        return None
    name = f"{place.stage.consumes}:{item.delivery.id}"
    head = item.delivery.head
    left_ms = 0 if head is None else head.deadline_ms - to_ms(now)
    return blob_of(
        item.body, name, item.subject, keys=place.keys, left_ms=left_ms, config=place.config
    )


def _again(item: Settlement) -> bytes:
    """What a retry or a park adds again: the message, or where it lies already."""
    blob = item.delivery.blob
    return item.body if blob is None else reference(blob, item.subject)


def _result(call: _Call, item: Settlement, place: Place, status: Status) -> list[Arg]:
    # Never a blob: who reads results joins nothing and deletes nothing, so a blob would outlive its trimmed entry or
    # expire before it.
    return [
        call.key(place.keys.of(RESULTS[status])),
        call.key(place.keys.result(item.subject)),
        item.subject,
        outcome_of(status),
        _ms(place.config.result_ttl_s),
        place.config.results_kept,
        item.body,
    ]


def _dead(
    call: _Call, item: Settlement, fate: DeadLetter, place: Place, now: datetime
) -> list[Arg]:
    delivery, keys, stage = item.delivery, place.keys, place.stage
    raw_key = keys.raw(stage.consumes, delivery.id)
    record = dead_record(
        delivery,
        fate,
        query_id=item.subject,
        stage=stage.name,
        stream=stage.consumes,
        now=now,
        raw_key=raw_key,
    )
    return [
        call.key(keys.of("results.failed")),
        call.key(keys.result(item.subject)),
        call.key(raw_key),
        item.subject,
        1 if item.is_stranger else 0,
        _ms(place.config.result_ttl_s),
        place.config.results_kept,
        place.config.dead_kept,
        _ms(place.config.raw_ttl_s),
        record,
        raw_bytes(delivery),
        item.body,
    ]


def _event(
    item: Settlement,
    place: Place,
    stamp: str,
    outcome: Outcome,
    scores: Mapping[str, float] | None = None,
    *,
    reason: DeadReason | None = None,
    error: str | None = None,
) -> bytes:
    delivery = item.delivery
    return encode_event(
        query_id=item.subject,
        stage=place.stage.name,
        type=delivery.type,
        outcome=outcome,
        attempt=delivery.attempt,
        reason=reason,
        error=error and error[:500],
        time=stamp,
        waited_us=delivery.waited_ms * 1000,
        handled_us=int(delivery.handled_s * 1e6),
        input=delivery.raw or b"",
        output=item.body,
        config_digest=delivery.configdigest or place.configdigest,
        scores=scores or {},
    )


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
