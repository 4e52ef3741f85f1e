"""Running one delivery: from bytes to a settlement. The broad `except`s of the product are here."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, assert_never

from contracts import (
    Decoded,
    Decoder,
    FormattedResponse,
    Head,
    Newer,
    Permanent,
    Query,
    Undecodable,
    Value,
)
from contracts.about import keeps_question
from contracts.envelope import encode_next

from .clock import ServerClock
from .delivery import Delivery, Settlement
from .failed import FAILED_MESSAGE, failed_envelope
from .fate import DeadLetter, Emit, Fate, Park, after_error, before_handler
from .settle import Place
from .watch import Handling, handling_of

Handler = Callable[[Any], Awaitable[Value]]


_NOBODY_RAN_IT = DeadLetter("deadline", "its deadline passed before anyone could run it")


class Runner:
    """Turns deliveries of one stage into settlements by its handler."""

    def __init__(
        self,
        place: Place,
        handler: Handler,
        *,
        clock: ServerClock,
        jitter: Callable[[], float],
        failed_message: str | None,
        deadline_of: Callable[[str], Awaitable[int | None]],
        started: Callable[[Callable[[], Handling]], None] | None = None,
    ) -> None:
        self._started = started
        self._deadline_of = deadline_of
        self._place = place
        self._handler = handler
        self._clock = clock
        self._jitter = jitter
        self._failed_message = failed_message or FAILED_MESSAGE
        self._decoder = Decoder(place.stage)
        self._allowed = {FormattedResponse} if place.stage.is_last else set(place.stage.emits)

    async def run(self, delivery: Delivery, raw: bytes) -> Settlement:
        """Decode, decide, handle; returns the settlement, whatever happens in between."""
        try:
            found = self._decoder.decode(raw)
            if isinstance(found, Decoded):
                return await self._handle(delivery, found)
            return await self._not_handled(delivery, raw, found)
        except Exception as error:  # noqa: BLE001 - an entry put there by hand must not end its workers
            delivery.head = delivery.message = None
            return self.bury(delivery, DeadLetter("undecodable", type(error).__name__), None)

    async def _not_handled(
        self, delivery: Delivery, raw: bytes, found: Newer | Undecodable
    ) -> Settlement:
        match found:
            case Newer(version, subject):
                return await self._park(delivery, version, subject, raw)
            case Undecodable(reason, detail, readable):
                subject = readable or delivery.subject
                accepted = bool(subject) and await self._is_open(subject)
                fate = DeadLetter(reason, detail)
                return self.bury(delivery, fate, subject if accepted else None)
            case _:
                assert_never(found)

    async def _park(
        self, delivery: Delivery, version: int, subject: str | None, raw: bytes
    ) -> Settlement:
        """Put aside what a newer worker can read; `open` knows its deadline, for its envelope may be another."""
        deadline_ms = None if subject is None else await self._deadline_of(subject)
        if subject is None or deadline_ms is None:
            return self.bury(delivery, DeadLetter("unknown_type", "a stranger's"), None)
        if self._clock.now_ms() >= deadline_ms:
            return self.bury(delivery, _NOBODY_RAN_IT, subject)
        return Settlement(delivery, Park(version), subject, raw)

    async def overdue(self, delivery: Delivery) -> Settlement:
        """The settlement of an entry whose query's deadline has passed, without its handler."""
        raw = delivery.raw
        if raw is None:
            return await self.lost(delivery)
        match self._decoder.decode(raw):
            case Decoded(head, message, _):
                delivery.head, delivery.message = head, message
                return self.bury(delivery, _NOBODY_RAN_IT, head.subject)
            case _:
                return await self.run(delivery, raw)

    async def _is_open(self, query_id: str) -> bool:
        return await self._deadline_of(query_id) is not None

    async def _handle(self, delivery: Delivery, given: Decoded) -> Settlement:
        head, asked, _ = given
        delivery.head, delivery.message = head, asked
        now_ms = self._clock.now_ms()
        delivery.waited_ms = max(0, now_ms - head.time_ms)
        config = self._place.config
        refused = before_handler(
            deliveries=delivery.deliveries,
            now_ms=now_ms,
            deadline_ms=head.deadline_ms,
            config=config,
        )
        if refused:
            return self.bury(delivery, refused, head.subject)
        if self._started is not None:
            self._started(partial(handling_of, delivery, self._place, head.subject))
        delivery.started = started = time.perf_counter()
        try:
            message = await self._handler(asked)
            if self._place.used_digest is not None:
                delivery.configdigest = self._place.used_digest()
            self._check(message, given)
            delivery.handled_s = time.perf_counter() - started
            return self._emit(delivery, head, message)
        except BaseException as error:
            if not _is_a_failure(error):
                raise
            delivery.handled_s = time.perf_counter() - started
            fate: Fate = after_error(
                error,
                attempt=delivery.attempt,
                now_ms=self._clock.now_ms(),
                deadline_ms=head.deadline_ms,
                jitter=self._jitter(),
                config=config,
            )
        if isinstance(fate, DeadLetter):
            return self.bury(delivery, fate, head.subject)
        return Settlement(delivery, fate, head.subject, delivery.raw or b"")

    def _check(self, message: Value, given: Decoded) -> None:
        name = self._place.stage.name
        if type(message) not in self._allowed:
            raise Permanent(f"{name} returned {type(message).__name__}, which it may not emit")
        if not keeps_question(message, given.message, given.query):
            raise Permanent(
                f"{name} returned a message about another query, or intent, than it was given"
            )

    def _emit(self, delivery: Delivery, head: Head, message: Value) -> Settlement:
        outgoing = encode_next(
            head,
            message,
            stage=self._place.stage.name,
            time=self._clock.stamp(),
            configdigest=delivery.configdigest or self._place.configdigest,
        )
        if len(outgoing) > self._place.config.max_payload_bytes:
            fate = DeadLetter("too_large", f"its output has {len(outgoing)} bytes")
            return self.bury(delivery, fate, head.subject)
        delivery.message = None
        return Settlement(delivery, Emit.of(message), head.subject, outgoing)

    async def lost(self, delivery: Delivery) -> Settlement:
        """The settlement of an entry whose blob has expired, or was never there."""
        subject = delivery.subject
        accepted = await self._is_open(subject)
        fate = DeadLetter("expired", "its blob is gone")
        return self.bury(delivery, fate, subject if accepted else None)

    def not_a_message(self) -> DeadLetter:
        """The fate of an entry without an envelope where none can be made."""
        return DeadLetter("undecodable", "no field `event`")

    def bury(self, delivery: Delivery, fate: DeadLetter, subject: str | None) -> Settlement:
        """The settlement of a dead letter; without a subject it came from outside and gets an id."""
        query_id = subject or stranger_id(self._place, delivery.id)
        body = failed_envelope(
            delivery.head,
            delivery.message,
            query_id,
            stage=self._place.stage.name,
            now=self._clock.now(),
            message=self._failed_message,
        )
        return Settlement(delivery, fate, query_id, body, is_stranger=subject is None)


def _is_a_failure(error: BaseException) -> bool:
    """Whether it is the handler that failed, and not we who are told to stop.

    What it waited for may have been cancelled, a library may exit or panic (pyo3's PanicException is no Exception):
    let through, that would end the runner, and its words would stand in a traceback.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and not task.cancelling()
    return not isinstance(error, KeyboardInterrupt | GeneratorExit)


def stranger_id(place: Place, entry_id: str) -> str:
    """The query id of an entry that nobody submitted: on `queries` the one that its adoption would give."""
    stage = "" if Query in place.stage.accepts else f"{place.stage.name}-"
    return f"{place.keys.lane}-{stage}{entry_id}"
