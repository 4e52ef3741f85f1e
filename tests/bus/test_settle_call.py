"""Settlements as values: how they are batched, and what one call of the script is made of."""

import json
from collections import deque
from datetime import UTC, datetime
from typing import Any

import pytest
from bus_system import NOOP, query

from bus.config import BusConfig
from bus.delivery import Delivery, Settlement
from bus.failed import FAILED_MESSAGE, failed_response, raw_bytes
from bus.fate import DeadLetter, Emit, Fate, Park, Retry
from bus.keys import Keys
from bus.opening import open_query
from bus.settle import Place, settle_call
from bus.settler import take_batch
from bus.wire import Arg
from contracts import TOPOLOGY, Value

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
ASKED = query("secret").model_copy(update={"query_id": "0-q"})
RAW = open_query(ASKED, now=NOW, deadline_s=60, source="submit").body
FIXED = 6
"""Arguments before the first item: group, consumer, lowest and highest id, events kept, items."""


def settlement(fate: Fate, entry_id: str = "1-0", body: bytes = b"body") -> Settlement:
    return Settlement(Delivery(entry_id, {b"event": RAW}, 1), fate, "0-q", body)


def place(stage: str = "understand") -> Place:
    return Place(TOPOLOGY.stage(stage), Keys(0), "me", BusConfig(), "digest")


def _json(arg: Arg) -> dict[str, Any]:
    assert isinstance(arg, bytes)
    found: dict[str, Any] = json.loads(arg)
    return found


async def message(stage: str) -> Value:
    """What a stage's no-op handler emits for the question."""
    found: Any = ASKED
    for step in TOPOLOGY.stages:
        found = await NOOP[step.name](found)
        if step.name == stage:
            break
    return found  # type: ignore[no-any-return]


async def test_the_fixed_keys_come_first_and_each_destination_once() -> None:
    """Items name their keys by index."""
    emit = Emit.of(await message("understand"))
    keys, args = settle_call([settlement(emit, "2-0"), settlement(emit, "10-0")], place(), NOW)
    names = (
        "queries open counters events dead queries:delayed queries:delayed:body replaying parked"
    )
    assert keys == [Keys(0).of(name) for name in [*names.split(), "intents"]]
    assert args[:FIXED] == ["understand", "me", "2-0", "10-0", 100_000, 2]
    first, second = args[FIXED : FIXED + 5], args[FIXED + 5 :]
    assert [first[0], first[1], first[3], first[4]] == ["emit", "2-0", 10, b"body"]
    assert [second[0], second[1], second[3], second[4]] == ["emit", "10-0", 10, b"body"]


@pytest.mark.parametrize(
    ("fate", "kind", "size", "outcome"),
    [
        (Retry(250, 2, "ValueError"), "retry", 6, "retried"),
        (DeadLetter("attempts", "ValueError"), "dead", 15, "dead"),
        (Park(2), "park", 7, "parked"),
    ],
)
def test_each_fate_has_its_item(fate: Fate, kind: str, size: int, outcome: str) -> None:
    """Kind, id and event first, then what the kind needs; the script reads no more and no less."""
    _, args = settle_call([settlement(fate)], place(), NOW)
    item = args[FIXED:]
    assert (item[0], item[1], len(item)) == (kind, "1-0", size)
    assert _json(item[2])["outcome"] == outcome


async def test_a_response_is_a_result_with_its_outcome_and_time_to_live() -> None:
    """On its stream, under its key."""
    keys, args = settle_call([settlement(Emit.of(await message("format")))], place("format"), NOW)
    kind, _, event, stream, key, query_id, outcome, ttl, kept, body = args[FIXED:]
    assert (kind, query_id, outcome) == ("result", "0-q", "answered")
    assert keys[int(stream) - 1] == Keys(0).of("results.answered")
    assert keys[int(key) - 1] == Keys(0).result("0-q")
    assert (ttl, kept, body) == (3_600_000, 100_000, b"body")
    assert _json(event)["outcome"] == "answered"


@pytest.mark.parametrize(
    "fate", [Retry(1, 2, "E"), DeadLetter("permanent", "E"), Park(2)], ids=["retry", "dead", "park"]
)
def test_an_event_holds_no_text(fate: Fate) -> None:
    """Digests, sizes and times, by every fate."""
    _, args = settle_call([settlement(fate)], place(), NOW)
    assert b"secret" not in args[FIXED + 2]  # type: ignore[operator]


def test_a_dead_record_holds_no_text() -> None:
    """What lay on the stream is under a key of its own, the last but one argument."""
    _, args = settle_call([settlement(DeadLetter("permanent", "E"))], place(), NOW)
    record, raw, _ = args[-3:]
    assert b"secret" not in record  # type: ignore[operator]
    assert raw == RAW


def test_a_batch_is_bounded_by_count_and_bytes_and_never_empty() -> None:
    """128 entries or 1 MiB; one that is larger goes alone."""
    config = BusConfig(settle_entries=3, settle_bytes=10)

    def sizes(*bodies: int) -> list[int]:
        waiting = deque(settlement(Park(2), body=b"x" * size) for size in bodies)
        taken = len(take_batch(waiting, config))
        assert len(waiting) == len(bodies) - taken
        return list(bodies[:taken])

    assert sizes(1) == [1]
    assert sizes(1, 1, 1, 1) == [1, 1, 1]
    assert sizes(6, 4, 1) == [6, 4]
    assert sizes(6, 5) == [6]
    assert sizes(99, 1) == [99]


def test_a_failed_response_says_nothing_of_the_inside() -> None:
    """An honest sentence; no stage, class or reason."""
    response = failed_response("0-q", ASKED, FAILED_MESSAGE)
    assert response.status == response.label == response.channel_json.status == "failed"
    assert response.display_text == response.channel_json.message == FAILED_MESSAGE
    assert response.segments == ()
    assert (response.session_id, response.channel) == (ASKED.session_id, ASKED.channel)


def test_raw_bytes_of_a_bare_entry_are_all_its_fields() -> None:
    """In base64, so that no byte is lost or misread."""
    raw = raw_bytes(Delivery("1-0", {b"ju\xffnk": b"\xff\xfe"}, 1))
    assert json.loads(raw) == {"fields_base64": {"ju\\xffnk": "//4="}}
