"""The record of one settle: what happened to a delivery, in digests and numbers, never in text."""

from typing import Literal

from pydantic import Field

from .base import Value

Outcome = Literal["emitted", "answered", "retried", "dead", "parked", "adopted", "dropped"]
DeadReason = Literal[
    "undecodable",
    "unknown_type",
    "invalid",
    "permanent",
    "attempts",
    "deliveries",
    "deadline",
    "expired",
    "too_large",
]


class Event(Value):
    """One hop of one query. Times in microseconds, sizes in bytes, digests SHA-256 prefixes."""

    query_id: str
    stage: str
    type: str
    outcome: Outcome
    attempt: int
    reason: DeadReason | None = None
    error: str | None = None
    time: str
    waited_us: int
    handled_us: int
    input_bytes: int
    output_bytes: int
    input_digest: str
    output_digest: str
    config_digest: str
    scores: dict[str, float] = Field(default_factory=dict)
