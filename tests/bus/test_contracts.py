import json
import uuid
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from bus_system import NOOP, query
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bus.failed import failed_response
from contracts import (
    OUTCOMES,
    TOPOLOGY,
    Approved,
    Clarification,
    Decoded,
    Decoder,
    Envelope,
    FormattedResponse,
    Newer,
    OutOfScope,
    Query,
    Rejected,
    Stage,
    Undecodable,
    Value,
    outcome_of,
    result_stream,
)
from contracts import errors as error_tree
from contracts.envelope import (
    encode,
    encode_next,
    envelope_of,
    first_envelope,
    head_of,
    iso,
    type_name,
)
from contracts.event import DeadReason, Event, Outcome, encode_event
from contracts.ids import envelope_id
from contracts.topology import RESULTS

NOW = datetime(2026, 5, 4, 3, 2, 1, 987654, tzinfo=UTC)
NAMESPACE = uuid.UUID("6f6e8d1c-2f0b-5f5e-9a53-2d7f0b1f6a10")
ASKED = query("why?").model_copy(update={"query_id": "0-q"})


def wrapped(message: Value) -> Envelope[Value]:
    return first_envelope(message, source="submit", subject="0-q", time=NOW, deadline=NOW)


def following(cause: Envelope[Any], message: Value, time: datetime = NOW) -> Envelope[Any]:
    """What `understand` makes of a cause."""
    raw = encode_next(head_of(cause), message, stage="understand", time=iso(time), configdigest="d")
    return envelope_of(type(message)).model_validate_json(raw)


async def messages() -> list[tuple[Stage, Value]]:
    """Every kind of message with the stage that consumes it."""
    found: list[tuple[Stage, Value]] = []
    message: Any = ASKED
    for stage in TOPOLOGY.stages:
        found.append((stage, message))
        message = await NOOP[stage.name](message)
    last = TOPOLOGY.stages[-1]
    intent: Any = await NOOP["understand"](ASKED)
    found.append((last, Rejected(intent=intent, corpus_version="v", checks=())))
    found.append((last, OutOfScope(intent=intent, reason="empty")))
    found.append((last, Clarification(intent=intent, options=("a",))))
    return found


async def test_every_message_survives_its_envelope() -> None:
    """Encoded and decoded it is the same value."""
    for stage, message in await messages():
        envelope = wrapped(message)
        read = Decoder(stage).decode(encode(envelope))
        assert read == Decoded(head_of(envelope), message, ASKED)


@given(
    at=st.integers(0, 10_000),
    much=st.integers(0, 2),
    put=st.binary(max_size=2),
    which=st.integers(0, 7),
)
async def test_what_we_write_is_read_quickly_and_to_the_same_effect(
    at: int, much: int, put: bytes, which: int
) -> None:
    """A blank before it makes the decoder go the plain way, which decides the same of any bytes, damaged ones too."""
    stage, message = (await messages())[which]
    state = "vendor=x1" if at % 2 else None
    raw = encode(wrapped(message).model_copy(update={"tracestate": state}))
    at = at % len(raw) if at % 3 else at % 520  # rather in the envelope than in the data
    raw = raw[:at] + put + raw[at + much :]
    decoder = Decoder(stage)
    assert decoder.decode(raw) == decoder.decode(b" " + raw)


async def test_the_envelope_is_a_cloudevent() -> None:
    """The attributes that the specification demands, under its names."""
    found = json.loads(encode(wrapped(ASKED)))
    assert found["specversion"] == "1.0"
    assert found["source"] == "/groundwire/submit"
    assert found["type"] == "groundwire.query.v1"
    assert found["subject"] == "0-q"
    assert found["datacontenttype"] == "application/json"
    assert all(name.islower() and name.isalnum() for name in found)


def test_an_envelope_id_is_the_uuid5_of_cause_and_stage() -> None:
    """Derived, never drawn; computed without uuid's detour, to the same effect."""
    for number in range(500):
        cause = f"cause {number}"
        assert envelope_id(cause, "critic") == str(uuid.uuid5(NAMESPACE, f"{cause}/critic"))


async def test_a_redelivery_gives_the_same_id_source_and_data() -> None:
    """Time may differ, the identity may not."""
    cause = wrapped(ASKED)
    message = await NOOP["understand"](ASKED)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    one, two = following(cause, message), following(cause, message, time=later)
    assert (one.id, one.source, one.data) == (two.id, two.source, two.data)
    assert one.causationid == cause.id
    assert one.deadline == cause.deadline
    assert one.traceparent[:36] == cause.traceparent[:36]
    assert one.traceparent != cause.traceparent
    assert len(one.traceparent) == 55


@pytest.mark.parametrize(
    "time", [NOW, NOW.replace(microsecond=0), NOW.replace(microsecond=120_000)]
)
@pytest.mark.parametrize("subject", ["0-q", 'a"\\\n\x00\x1f\x7f\u2028\u00e9\U0001f600'])
async def test_the_next_envelope_is_written_as_if_it_had_been_made(
    time: datetime, subject: str
) -> None:
    """The quick way gives the bytes of the plain one before the data: of any text, to the last digit of its times."""
    deadline = time.astimezone(timezone(timedelta(hours=2)))
    for number, (_, message) in enumerate(await messages()):
        state = None if number % 2 else f"vendor={subject}"
        cause = wrapped(ASKED).model_copy(
            update={"subject": subject, "deadline": deadline, "tracestate": state}
        )
        raw = encode_next(
            head_of(cause), message, stage="understand", time=iso(time), configdigest="d"
        )
        made = following(cause, message, time).model_copy(
            update={"time": time, "deadline": deadline, "subject": subject}
        )
        assert made.data == message
        assert raw.startswith(encode(made).partition(b',"data":')[0])


async def test_between_stages_what_equals_its_default_is_not_written() -> None:
    """But the tag, by which a stage tells its kinds of messages apart; what leaves the system is whole."""
    for _, message in await messages():
        raw = encode_next(
            head_of(wrapped(ASKED)), message, stage="critic", time=iso(NOW), configdigest=""
        )
        written = set(json.loads(raw)["data"])
        stated = set(message.model_dump(mode="json", exclude_defaults=True))
        assert written == (stated | {"type"}), message.model_fields["type"].default
    response = failed_response("0-q", None, "Sorry.")
    raw = encode_next(
        head_of(wrapped(ASKED)), response, stage="format", time=iso(NOW), configdigest=""
    )
    assert set(json.loads(raw)["data"]) == set(FormattedResponse.model_fields)


@given(
    event=st.builds(
        Event,
        query_id=st.text(),
        stage=st.sampled_from(["understand", "critic"]),
        type=st.just("groundwire.query.v1"),
        outcome=st.sampled_from(get_args(Outcome)),
        attempt=st.integers(1, 9),
        reason=st.none() | st.sampled_from(get_args(DeadReason)),
        error=st.none() | st.text(),
        time=st.just(iso(NOW)),
        waited_us=st.integers(0, 10**9),
        handled_us=st.integers(0, 10**9),
        input_bytes=st.just(3),
        output_bytes=st.just(0),
        input_digest=st.just("ba7816bf8f01cfea"),
        output_digest=st.just("e3b0c44298fc1c14"),
        config_digest=st.just("d"),
        scores=st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
    )
)
def test_an_event_is_written_as_if_it_had_been_made(event: Event) -> None:
    """The quick way gives the bytes of the plain one, without what is None."""
    facts = {name: value for name, value in event if not name.startswith(("input", "output"))}
    assert (
        encode_event(**facts, input=b"abc", output=b"")
        == event.model_dump_json(exclude_none=True).encode()
    )


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"{}", b"[" * 100_000, b"1" * 100_000]
)
def test_what_is_no_cloudevent_is_undecodable(raw: bytes) -> None:
    """Decoding never raises."""
    found = Decoder(TOPOLOGY.entry).decode(raw)
    assert isinstance(found, Undecodable)
    assert found.reason == "undecodable"
    assert found.subject is None


def changed(**fields: object) -> bytes:
    """A query's envelope with other fields."""
    return json.dumps(json.loads(encode(wrapped(ASKED))) | fields).encode()


def test_an_unknown_type_is_told_apart() -> None:
    """A message for another stage, or of nobody's."""
    for name in ("groundwire.intent.v1", "com.example.order", "groundwire.query.v0", ""):
        found = Decoder(TOPOLOGY.entry).decode(changed(type=name))
        assert isinstance(found, Undecodable), name
        assert (found.reason, found.subject) == ("unknown_type", "0-q")


def test_a_time_without_a_zone_is_invalid() -> None:
    """Deadlines are compared with the server's clock: one that could mean anything is refused."""
    found = Decoder(TOPOLOGY.entry).decode(changed(deadline="2026-05-04T03:02:01"))
    assert isinstance(found, Undecodable)
    assert found.reason == "invalid"
    assert "deadline" in found.detail


def test_a_newer_version_is_no_error() -> None:
    """Whatever its data looks like."""
    assert Decoder(TOPOLOGY.entry).decode(changed(type="groundwire.query.v2")) == Newer(2, "0-q")
    raw = changed(type="groundwire.query.v12", data={"type": "query", "new": 1})
    assert Decoder(TOPOLOGY.entry).decode(raw) == Newer(12, "0-q")


@pytest.mark.parametrize(
    "data",
    [
        {"type": "query", "text": "x" * 8001, "session_id": "s"},
        {"type": "query", "text": 5, "session_id": "s"},
        {"type": "query", "text": "x", "session_id": "s", "extra": 1},
        {"type": "intent"},
        {},
        None,
        "secret",
    ],
)
def test_data_that_breaks_its_contract_is_invalid_without_its_text(data: object) -> None:
    """The detail names places and rules; the subject is still readable."""
    found = Decoder(TOPOLOGY.entry).decode(changed(data=data))
    assert isinstance(found, Undecodable)
    assert (found.reason, found.subject) == ("invalid", "0-q")
    assert "secret" not in found.detail


SAID = "Ninety days, guaranteed"


@pytest.mark.parametrize(
    "fields",
    [
        {"type": SAID},
        {"type": f"groundwire.{SAID.lower().replace(' ', '_').replace(',', '')}.v1"},
        {SAID: 1},
        {"data": {"type": SAID}},
        {"data": {"type": "query", "text": "x", "session_id": "s", SAID: 1}},
    ],
)
def test_no_name_that_a_stranger_chose_is_told(fields: dict[str, object]) -> None:
    """A field or a type may be named by a draft's whole text: records and events say only our own names."""
    for stage in TOPOLOGY.stages:
        found = Decoder(stage).decode(changed(**fields))
        assert isinstance(found, Undecodable)
        assert not set(SAID.lower().replace(",", "").split()) & set(
            found.detail.lower().replace("_", " ").split()
        )


def test_a_message_about_another_query_than_its_envelope_s_is_invalid() -> None:
    """What settles, and under which key, is the envelope's word; what is answered, the message's."""
    found = Decoder(TOPOLOGY.entry).decode(changed(subject="0-other"))
    assert isinstance(found, Undecodable)
    assert (found.reason, found.subject) == ("invalid", "0-other")
    assert "subject" in found.detail


def test_data_of_another_type_than_the_envelope_says_is_invalid() -> None:
    """At a stage that takes both."""
    last = TOPOLOGY.stages[-1]
    intent: Any = {"type": "intent", "query": ASKED.model_dump(mode="json"), "cleaned_text": ""}
    intent |= {"label": "a", "confidence": 1, "category_scores": {}, "in_scope": False}
    data = {"type": "out_of_scope", "intent": intent, "reason": "empty"}
    found = Decoder(last).decode(changed(type="groundwire.approved.v1", data=data))
    assert isinstance(found, Undecodable)
    assert found.reason == "invalid"


def test_every_emitted_type_is_accepted_by_its_consumer() -> None:
    """The table closes: nothing is sent where it can't be read."""
    consumers = {stage.consumes: stage for stage in TOPOLOGY.stages}
    assert len(consumers) == len(TOPOLOGY.stages)
    for stage in TOPOLOGY.stages:
        for message, stream in stage.emits.items():
            assert message in consumers[stream].accepts, (stage.name, message)
    for stage in TOPOLOGY.stages[1:]:
        emitted = {m for s in TOPOLOGY.stages for m, to in s.emits.items() if to == stage.consumes}
        assert emitted == set(stage.accepts), stage.name


def test_type_names_are_unique() -> None:
    """One name, one class."""
    accepted = [message for stage in TOPOLOGY.stages for message in stage.accepts]
    assert len({type_name(message) for message in accepted}) == len(accepted)


def test_every_status_has_a_stream_and_a_counter() -> None:
    """And every outcome has a status."""
    assert {outcome_of(status) for status in RESULTS} == set(OUTCOMES)
    assert set(RESULTS.values()) == {f"results.{outcome}" for outcome in OUTCOMES}


async def test_a_response_names_its_stream() -> None:
    """By its status alone."""
    verdict = (await messages())[4][1]
    response = await NOOP["format"](verdict)
    assert isinstance(response, FormattedResponse)
    assert result_stream(response) == "results.answered"


def test_a_rejected_verdict_has_no_field_that_could_hold_the_text() -> None:
    """What format never receives, it cannot leak."""
    assert set(Rejected.model_fields) == {"type", "label", "intent", "corpus_version", "checks"}
    with pytest.raises(ValidationError):
        Rejected.model_validate({"label": "rejected", "text": "90 days, guaranteed"})
    assert "text" not in Approved.model_fields


async def test_messages_are_frozen() -> None:
    """A value does not change under way."""
    for _, message in await messages():
        with pytest.raises(ValidationError):
            message.type = "other"  # type: ignore[attr-defined]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    """Unmeasured is a state with a reason, not a NaN."""
    raw = f'{{"type":"response","confidence":{number}}}'
    with pytest.raises(ValidationError) as refused:
        FormattedResponse.model_validate_json(raw)
    assert "finite_number" in {fault["type"] for fault in refused.value.errors()}


def test_an_unknown_field_and_a_text_too_long_are_refused() -> None:
    """At the client, before anything is sent."""
    with pytest.raises(ValidationError):
        Query(text="x", session_id="s", colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Query(text="x" * 8001, session_id="s")
    with pytest.raises(ValidationError):
        Query(text="x", session_id="")
    assert len(Query(text="x" * 8000, session_id="s").text) == 8000


def test_every_error_is_transient_or_permanent_and_drawn_in_the_tree() -> None:
    """A class exists only where a caller acts differently."""
    classes = [value for value in vars(error_tree).values() if isinstance(value, type)]
    for error in classes:
        assert error.__name__ in (error_tree.__doc__ or "")
        if error is not error_tree.GroundwireError:
            assert issubclass(error, (error_tree.Transient, error_tree.Permanent))
            assert not issubclass(error, error_tree.Transient) or not issubclass(
                error, error_tree.Permanent
            )
