"""Opening a query: from a question to the envelope that is accepted, the same for submit and adoption."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from contracts import Invalid, Query
from contracts.envelope import encode, fields_at_fault, first_envelope, to_ms

from .blob import Blob, blob_of
from .config import BusConfig
from .keys import Keys
from .origin import Context


@dataclass(frozen=True)
class Opening:
    """What an acceptance writes."""

    query_id: str
    digest: str
    deadline_ms: int
    left_ms: int
    trace_id: str
    body: bytes

    def blob(self, keys: Keys, config: BusConfig) -> Blob | None:
        """The blob that the envelope has to travel as, if it has to."""
        name = f"submit:{self.query_id}"
        return blob_of(
            self.body, name, self.query_id, keys=keys, left_ms=self.left_ms, config=config
        )

    def is_too_large(self, config: BusConfig) -> bool:
        """Whether the envelope may not travel at all."""
        return len(self.body) > config.max_payload_bytes


def open_query(
    query: Query, *, now: datetime, deadline_s: float, source: str, context: Context | None = None
) -> Opening:
    """Stamp a query that has its id, wrap it, and say when it must be done."""
    deadline = now + timedelta(seconds=deadline_s)
    stamped = query.model_copy(update={"asked_at": now})
    envelope = first_envelope(
        stamped,
        source=source,
        subject=query.query_id,
        time=now,
        deadline=deadline,
        trace=query.trace if context is None else context.traceparent,
        tracestate=None if context is None else context.tracestate,
    )
    return Opening(
        query_id=query.query_id,
        digest=payload_digest(query),
        deadline_ms=to_ms(deadline),
        left_ms=int(deadline_s * 1000),
        trace_id=envelope.traceparent[3:35],
        body=encode(envelope),
    )


def payload_digest(query: Query) -> str:
    """A digest of what was asked; ids and times are no part of it."""
    asked = query.model_dump(mode="json", exclude={"query_id", "asked_at", "trace"})
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def mint_query_id(lane: int, now_ms: int) -> str:
    """A new id: the lane and a UUID of version 7 (RFC 9562: 48 bits of time, the rest random)."""
    number = (now_ms & ((1 << 48) - 1)) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    digits = f"{number:032x}"
    return f"{lane}-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_BARE_FIELDS = frozenset(
    {"text", "session_id", "query_id", "user_id", "feature", "channel", "labels", "trace"}
)


def query_of_bare(fields: dict[bytes, bytes], default_id: str) -> Query:
    """The query in a bare entry's fields (`labels` separated by commas); Invalid if there is none."""
    try:
        named = {name.decode(): value.decode() for name, value in fields.items()}
    except UnicodeDecodeError as error:
        raise Invalid("a field is not UTF-8") from error
    if not named.keys() <= _BARE_FIELDS:
        # Its name isn't told: it may be the question, fields and values being soon swapped.
        raise Invalid(f"unknown field; known: {', '.join(sorted(_BARE_FIELDS))}")
    values: dict[str, object] = dict(named)
    if "labels" in named:
        values["labels"] = tuple(part.strip() for part in named["labels"].split(","))
    values["query_id"] = named.get("query_id") or default_id
    values.setdefault("session_id", "anonymous")
    try:
        return Query.model_validate(values)
    except ValidationError as error:
        raise Invalid(fields_at_fault(error)) from error
