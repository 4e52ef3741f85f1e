import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from bus.clock import ServerClock, from_ms, time_reply_ms
from bus.opening import mint_query_id, open_query, payload_digest, query_of_bare
from contracts import TOPOLOGY, Decoded, Decoder, Invalid, Query
from contracts.envelope import to_ms
from contracts.ids import lane_of, lane_of_query

NOW = datetime(2026, 5, 4, 3, 2, 1, 987654, tzinfo=UTC)
ASKED = Query(query_id="0-a", text="why?", session_id="s")


def test_a_query_id_is_its_lane_and_a_uuid_of_version_7() -> None:
    """RFC 9562: 48 bits of milliseconds, version 7, variant 10."""
    now_ms = 1_777_777_777_777
    for lane in (0, 3, 12):
        found, _, rest = mint_query_id(lane, now_ms).partition("-")
        number = uuid.UUID(rest)
        assert int(found) == lane == lane_of_query(f"{lane}-{rest}")
        assert number.int >> 80 == now_ms
        assert number.version == 7
        assert number.variant == uuid.RFC_4122
        assert str(number) == rest


def test_query_ids_sort_by_time_and_never_repeat() -> None:
    """A later id is greater; ten thousand of one millisecond all differ."""
    ids = [mint_query_id(0, 1_777_777_777_000 + number) for number in range(1000)]
    assert ids == sorted(ids)
    assert len({mint_query_id(0, 1) for _ in range(10_000)}) == 10_000


def test_an_opening_is_an_envelope_that_understand_accepts() -> None:
    """Stamped with the server's time and the deadline; its id derives from the query's."""
    opening = open_query(ASKED, now=NOW, deadline_s=600.0, source="submit")
    found = Decoder(TOPOLOGY.entry).decode(opening.body)
    assert isinstance(found, Decoded)
    assert found.head.subject == opening.query_id == "0-a"
    assert found.message == ASKED.model_copy(update={"asked_at": NOW})
    assert found.head.time_ms == to_ms(NOW)
    assert found.head.deadline_ms == to_ms(NOW + timedelta(seconds=600)) == opening.deadline_ms
    assert open_query(ASKED, now=NOW, deadline_s=600.0, source="submit") == opening


def test_a_given_trace_is_kept() -> None:
    """The caller's trace id goes on through all five stages."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    asked = ASKED.model_copy(update={"trace": trace})
    found = Decoder(TOPOLOGY.entry).decode(
        open_query(asked, now=NOW, deadline_s=1.0, source="submit").body
    )
    assert isinstance(found, Decoded)
    assert found.head.traceparent == trace


def test_the_payload_digest_is_of_what_is_asked_alone() -> None:
    """Id, time and trace may differ in a repetition; nothing else may."""
    same: list[dict[str, object]] = [
        {"query_id": "0-b"},
        {"asked_at": NOW},
        {"trace": "00-" + "1" * 32 + "-" + "1" * 16 + "-00"},
    ]
    other: list[dict[str, object]] = [
        {"text": "why"},
        {"session_id": "t"},
        {"user_id": "u"},
        {"feature": "f"},
    ]
    other += [{"channel": "html"}, {"labels": ("a", "b")}]
    digest = payload_digest(ASKED)
    assert all(payload_digest(ASKED.model_copy(update=change)) == digest for change in same)
    digests = {payload_digest(ASKED.model_copy(update=change)) for change in other}
    assert len(digests | {digest}) == len(other) + 1


def test_a_bare_entry_needs_a_text_alone() -> None:
    """`XADD gw:{0}:queries * text "…"` is a whole question."""
    assert query_of_bare({b"text": b"why?"}, "0-1-0") == Query(
        query_id="0-1-0", text="why?", session_id="anonymous"
    )


def test_a_bare_entry_may_name_every_field_of_a_question() -> None:
    """Labels are separated by commas, spaces around them don't count."""
    fields = {
        b"text": "ümlaut 👋".encode(),
        b"session_id": b"s",
        b"query_id": b"0-mine",
        b"user_id": b"u",
        b"feature": b"f",
        b"channel": b"html",
        b"labels": b"public, staff",
    }
    assert query_of_bare(fields, "0-1-0") == Query(
        query_id="0-mine",
        text="ümlaut 👋",
        session_id="s",
        user_id="u",
        feature="f",
        channel="html",
        labels=("public", "staff"),
    )


def test_an_empty_query_id_counts_as_none() -> None:
    """A client that sends the field empty gets an id all the same."""
    assert query_of_bare({b"text": b"", b"query_id": b""}, "0-1-0").query_id == "0-1-0"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "text: missing"),
        ({b"junk": b"\xff\xfe"}, "not UTF-8"),
        ({b"\xff": b"x", b"text": b"x"}, "not UTF-8"),
        ({b"text": b"x" * 8001}, "text: string_too_long"),
        ({b"text": b"x", b"colour": b"red"}, "unknown field; known: channel"),
        ({b"text": b"x", b"session_id": b""}, "session_id: string_too_short"),
        ({b"text": b"x", b"channel": b"fax"}, "channel: literal_error"),
        ({b"text": b"x", b"query_id": b"0-{a}"}, "query_id: string_pattern_mismatch"),
        ({b"text": b"x", b"query_id": b"0-a\n"}, "query_id: string_pattern_mismatch"),
        ({b"text": b"x", b"query_id": b"0" * 201}, "query_id: string_pattern_mismatch"),
        ({b"text": b"x", b"labels": b"a,,b"}, "labels.1: string_too_short"),
        ({b"text": b"x", b"trace": b"00-1"}, "trace: string_pattern_mismatch"),
        ({b"text": b"x", b"asked_at": b"2026-01-01T00:00:00Z"}, "unknown field; known: channel"),
        ({b"text": b"x", b"type": b"query"}, "unknown field; known: channel"),
    ],
)
def test_a_bare_entry_that_breaks_a_rule_is_invalid(fields: dict[bytes, bytes], why: str) -> None:
    """The message names the field and the rule, never the value."""
    with pytest.raises(Invalid) as refused:
        query_of_bare(fields, "0-1-0")
    assert why in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_lane_is_the_hash_of_its_key() -> None:
    """The same in every process, and evenly spread."""
    assert lane_of("session", 1) == 0
    assert [lane_of(str(number), 4) for number in range(5)] == [
        lane_of(str(number), 4) for number in range(5)
    ]
    counts = [0] * 4
    for number in range(4000):
        counts[lane_of(str(number), 4)] += 1
    assert min(counts) > 800


@pytest.mark.parametrize("query_id", ["", "0", "-", "0-", "-a", "x-a", "²-a", "a-0"])
def test_what_names_no_lane_is_no_query_id(query_id: str) -> None:
    """ValueError, not a guess."""
    with pytest.raises(ValueError, match="query id"):
        lane_of_query(query_id)


def test_the_server_clock_goes_on_between_two_looks() -> None:
    """Set once, it counts by the monotonic clock."""
    clock = ServerClock()
    assert clock.is_older_than(0.0)
    clock.set(1_000_000.0)
    assert not clock.is_older_than(60.0)
    assert 1_000_000 <= clock.now_ms() < 1_060_000
    assert to_ms(clock.now()) >= 1_000_000
    assert clock.now().tzinfo is UTC


def test_a_stamp_is_the_servers_time_to_the_millisecond() -> None:
    """RFC 3339, never ahead of `now`, and the next millisecond has another."""
    clock = ServerClock()
    clock.set(1_700_000_000_000.0)
    before, stamp, after = clock.now_ms(), clock.stamp(), clock.now_ms()
    assert before <= to_ms(datetime.fromisoformat(stamp)) <= after
    clock.set(1_700_000_005_000.0)
    assert clock.stamp() > stamp


def test_milliseconds_and_datetimes_convert_both_ways() -> None:
    """And TIME's reply is read in milliseconds."""
    now_ms = int(time.time() * 1000)
    assert to_ms(from_ms(now_ms)) == now_ms
    assert time_reply_ms([b"1700000000", b"123456"]) == 1_700_000_000_123.456
