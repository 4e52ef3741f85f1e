"""A desk: one consumer of one stage that reads and settles by hand, to ask the settle script itself."""

from dataclasses import dataclass
from datetime import timedelta

from bus_system import NOOP, System, query

from bus.clock import ServerClock, time_reply_ms
from bus.delivery import Delivery, Settlement, fields_of
from bus.failed import failed_envelope
from bus.fate import DeadLetter, Emit, Park, Retry
from bus.opening import mint_query_id
from bus.reader import entries_of
from bus.settle import Place, settle_call
from bus.wire import text
from contracts import TOPOLOGY, Decoded, Decoder, Value
from contracts.envelope import encode, encode_next, first_envelope


@dataclass
class Desk:
    """Stands at a stage under a consumer's name."""

    system: System
    stage: str = "understand"
    consumer: str = "me"

    def __post_init__(self) -> None:
        stage = TOPOLOGY.stage(self.stage)
        self.place = Place(stage, self.system.keys, self.consumer, self.system.config, "digest")
        self.stream = self.place.stream
        self.clock = ServerClock()

    async def open(self) -> "Desk":
        """Create the group."""
        await self.system.call("XGROUP", "CREATE", self.stream, self.stage, "0", "MKSTREAM")
        return self

    async def put(self, deadline_s: float = 60.0) -> str:
        """An accepted query whose message lies before this stage; returns its query_id."""
        self.clock.set(time_reply_ms(await self.system.call("TIME")))
        query_id = mint_query_id(0, self.clock.now_ms())
        message: Value = query().model_copy(update={"query_id": query_id})
        for stage in TOPOLOGY.stages:
            if stage.name == self.stage:
                break
            message = await NOOP[stage.name](message)
        now = self.clock.now()
        deadline = now + timedelta(seconds=deadline_s)
        envelope = first_envelope(
            message, source="test", subject=query_id, time=now, deadline=deadline
        )
        keys = self.system.keys
        await self.system.call("XADD", self.stream, "*", "event", encode(envelope))
        await self.system.call("ZADD", keys.open, int(deadline.timestamp() * 1000), query_id)
        await self.system.call("HINCRBY", keys.counters, "accepted", 1)
        return query_id

    async def read(self, count: int = 1000) -> list[Delivery]:
        """What a worker of this name would be given now."""
        reply = await self.system.call(
            *("XREADGROUP", "GROUP", self.stage, self.consumer),
            *("COUNT", count, "STREAMS", self.stream, ">"),
        )
        found = [Delivery(text(id_), fields_of(flat), 1) for id_, flat in entries_of(reply)]
        for delivery in found:
            self.open_envelope(delivery)
        return found

    async def deliver(self, count: int = 1) -> list[Delivery]:
        """So many accepted queries, delivered here."""
        for _ in range(count):
            await self.put()
        return await self.read()

    async def settle(self, *settlements: Settlement) -> list[str]:
        """One call of the script; its statuses."""
        keys, args = settle_call(settlements, self.place, self.clock.now())
        return [text(status) for status in await self.system.script("settle", keys, args)]

    async def emit(self, delivery: Delivery) -> Settlement:
        """What the stage's no-op handler makes of a delivery."""
        head = delivery.head
        assert head is not None
        message = await NOOP[self.stage](delivery.message)
        following = encode_next(
            head, message, stage=self.stage, time=self.clock.stamp(), configdigest=""
        )
        return Settlement(delivery, Emit.of(message), head.subject, following)

    def retry(self, delivery: Delivery, delay_ms: int = 10_000) -> Settlement:
        """A retry as the second attempt."""
        fate = Retry(delay_ms, 2, "ValueError")
        return Settlement(delivery, fate, _subject(delivery), delivery.raw or b"")

    def bury(self, delivery: Delivery, *, is_stranger: bool = False) -> Settlement:
        """A dead letter."""
        subject = _subject(delivery)
        body = failed_envelope(
            delivery.head,
            delivery.message,
            subject,
            stage=self.stage,
            now=self.clock.now(),
            message="Sorry.",
        )
        fate = DeadLetter("permanent", "ValueError")
        return Settlement(delivery, fate, subject, body, is_stranger=is_stranger)

    def park(self, delivery: Delivery) -> Settlement:
        """To the stream of version 2."""
        return Settlement(delivery, Park(2), "", delivery.raw or b"")

    def open_envelope(self, delivery: Delivery) -> None:
        """Read the message of a delivery."""
        found = Decoder(self.place.stage).decode(delivery.raw or b"")
        assert isinstance(found, Decoded)
        delivery.head, delivery.message = found.head, found.message


def _subject(delivery: Delivery) -> str:
    assert delivery.head is not None
    return delivery.head.subject
