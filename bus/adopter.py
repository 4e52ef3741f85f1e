"""Adoption: a bare entry, put on `queries` by any Redis client, becomes an accepted query in one step."""

from redis import exceptions as errors

from contracts import Invalid, Unreachable
from contracts.ids import lanes_of_query

from .clock import ServerClock
from .delivery import Delivery
from .fate import DeadLetter
from .log import Log
from .opening import open_query, query_of_bare
from .pause import Pause
from .settle import Place
from .watch import handling_of
from .wire import Wire, text


class Adopter:
    """Adopts the bare entries of one lane."""

    def __init__(self, place: Place, wire: Wire, clock: ServerClock, log: Log) -> None:
        self._place = place
        self._wire = wire
        self._clock = clock
        self._log = log

    async def adopt(self, delivery: Delivery) -> DeadLetter | None:
        """Replace the entry by its envelope; a dead letter if it holds no valid query."""
        place = self._place
        try:
            query = query_of_bare(delivery.fields, f"{place.keys.lane}-{delivery.id}")
        except Invalid as error:
            return DeadLetter("invalid", str(error))
        if place.keys.lane not in lanes_of_query(query.query_id, place.config.lanes):
            # Nobody would find its result: who asks for it looks in the lane that the id names.
            return DeadLetter("invalid", f"its query_id names another lane than {place.keys.lane}")
        opening = open_query(
            query,
            now=self._clock.now(),
            deadline_s=place.config.deadline_s,
            source="adopt",
        )
        if opening.is_too_large(place.config):
            return DeadLetter("too_large", f"its query has {len(opening.body)} bytes")
        keys = place.keys
        blob = opening.blob(keys, place.config)
        names = [place.stream, keys.open, keys.counters]
        names += [keys.result(opening.query_id), keys.idempotency(opening.query_id)]
        if blob is not None:
            names.append(blob.key)
        ttl_ms = int(place.config.idempotency_ttl_s * 1000)
        status = await self._until_taken(
            names,
            [
                *(place.stage.name, delivery.id, opening.query_id, opening.digest),
                *(opening.deadline_ms, ttl_ms, opening.body if blob is None else blob.reference),
                *((blob.ttl_ms, blob.body) if blob is not None else ()),
            ],
        )
        facts = handling_of(delivery, place, opening.query_id).fields()
        if status == "ADOPTED":
            self._log("query.adopted", **facts | {"trace_id": opening.trace_id})
        elif status == "KNOWN":
            self._log("delivery.dropped", **facts)
        return None

    async def _until_taken(self, keys: list[str], args: list[str | bytes | int]) -> str:
        pause = Pause()
        while True:
            try:
                status = text(await self._wire.script("adopt", keys, args))
                if not status.startswith("REFUSED"):
                    return status
            except (Unreachable, errors.RedisError) as error:
                self._log("adopt.repeated", error=str(error)[:200])
            await pause.wait()
