"""What becomes of a delivery, decided by value: no clock, no random, no server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from contracts import FormattedResponse, Invalid, Permanent, Value
from contracts.answer import Status
from contracts.event import DeadReason
from contracts.scores import scores_of

from .config import BusConfig


class Emit(NamedTuple):
    """The handler's message goes on to the next stage, or out as a result.

    It keeps what settling asks of the message, not the message: a batch in hand of whole messages is what the
    garbage collector would spend its time on.
    """

    kind: type[Value]
    status: Status | None
    scores: Mapping[str, float]

    @classmethod
    def of(cls, message: Value) -> "Emit":
        """The fate of a delivery whose handler returned this."""
        status = message.status if isinstance(message, FormattedResponse) else None
        return cls(type(message), status, scores_of(message))


@dataclass(frozen=True)
class Retry:
    """Again later: in `delay_ms`, as attempt `attempt`."""

    delay_ms: int
    attempt: int
    error: str


@dataclass(frozen=True)
class DeadLetter:
    """The query ends as failed; the operator sees why."""

    reason: DeadReason
    error: str


@dataclass(frozen=True)
class Park:
    """The message waits for a worker that knows its version."""

    version: int


Fate = Emit | Retry | DeadLetter | Park


def before_handler(
    *, deliveries: int, now_ms: int, deadline_ms: int, config: BusConfig
) -> DeadLetter | None:
    """Whether a delivery may not even start: delivered too often, or too late."""
    if deliveries > config.deliveries:
        return DeadLetter("deliveries", f"delivered {deliveries} times, its workers died")
    if now_ms >= deadline_ms:
        return DeadLetter("deadline", "its deadline passed before the handler ran")
    return None


def after_error(
    error: BaseException,
    *,
    attempt: int,
    now_ms: int,
    deadline_ms: int,
    jitter: float,
    config: BusConfig,
) -> Retry | DeadLetter:
    """Retry or dead letter, for what a handler raised. `jitter` is uniform in [0, 1)."""
    name = type(error).__name__
    if isinstance(error, Invalid):
        return DeadLetter("invalid", name)
    if isinstance(error, Permanent):
        return DeadLetter("permanent", name)
    if attempt >= config.attempts:
        return DeadLetter("attempts", name)
    delay_ms = retry_delay_ms(attempt, jitter=jitter, config=config)
    if now_ms + delay_ms >= deadline_ms:
        return DeadLetter("deadline", name)
    return Retry(delay_ms, attempt + 1, name)


def retry_delay_ms(attempt: int, *, jitter: float, config: BusConfig) -> int:
    """Exponential backoff with full jitter: uniform in [0, min(cap, base·2^(attempt−1)))."""
    ceiling_s = min(config.retry_cap_s, config.retry_base_s * 2.0 ** (attempt - 1))
    return int(ceiling_s * 1000 * jitter)
