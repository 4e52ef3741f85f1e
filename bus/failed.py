"""What a dead letter leaves behind: the failed result that the asker sees, the record that the operator sees."""

import base64
import json
from datetime import datetime

from contracts import ChannelPayload, FormattedResponse, Head, Value, ids
from contracts.about import query_of
from contracts.envelope import encode, encode_next, first_envelope, iso
from contracts.query import Query

from .delivery import Delivery
from .fate import DeadLetter

FAILED_MESSAGE = (
    "Something went wrong on our side, and this question was not answered. Please ask again."
)


class DeadRecord(Value):
    """One dead letter as the operator reads it: ids, counts and digests, no text of the question."""

    query_id: str
    stage: str
    stream: str
    entry_id: str
    reason: str
    error: str
    attempts: int
    deliveries: int
    bytes: int
    digest: str
    time: datetime
    raw_key: str


def failed_response(query_id: str, query: Query | None, message: str) -> FormattedResponse:
    """The honest result of a query that could not be processed: nothing internal, no draft."""
    return FormattedResponse(
        query_id=query_id,
        session_id=query.session_id if query else "unknown",
        channel=query.channel if query else "text",
        status="failed",
        label="failed",
        confidence=0.0,
        display_text=message,
        channel_json=ChannelPayload(status="failed", message=message),
    )


def failed_envelope(
    cause: Head | None,
    cause_message: Value | None,
    query_id: str,
    *,
    stage: str,
    now: datetime,
    message: str,
) -> bytes:
    """The envelope of a failed result, with the cause where there is a readable one."""
    response = failed_response(query_id, query_of(cause_message), message)
    source = f"{stage}-dead"
    if cause is None:
        return encode(
            first_envelope(response, source=source, subject=query_id, time=now, deadline=now)
        )
    return encode_next(cause, response, stage=source, time=iso(now), configdigest="")


def dead_record(
    delivery: Delivery,
    fate: DeadLetter,
    *,
    query_id: str,
    stage: str,
    stream: str,
    now: datetime,
    raw_key: str,
) -> bytes:
    """The record of a dead letter as JSON."""
    raw = raw_bytes(delivery)
    return (
        DeadRecord(
            query_id=query_id,
            stage=stage,
            stream=stream,
            entry_id=delivery.id,
            reason=fate.reason,
            error=fate.error[:500],
            attempts=delivery.attempt,
            deliveries=delivery.deliveries,
            bytes=len(raw),
            digest=ids.digest(raw),
            time=now,
            raw_key=raw_key,
        )
        .model_dump_json()
        .encode()
    )


def raw_bytes(delivery: Delivery) -> bytes:
    """What lay on the stream: the envelope's bytes, or all fields in base64 where there is none."""
    if delivery.raw is not None:
        return delivery.raw
    fields = {
        name.decode(errors="backslashreplace"): base64.b64encode(value).decode()
        for name, value in delivery.fields.items()
    }
    return json.dumps({"fields_base64": fields}).encode()
