"""The bus from outside: submit a question, wait for its result, follow the results, look at the state."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Self

from pydantic_core import PydanticSerializationError
from redis import exceptions as errors

from contracts import (
    TOPOLOGY,
    FormattedResponse,
    IdempotencyConflict,
    Invalid,
    Overloaded,
    Query,
    ResultTimeout,
    Topology,
    Transient,
    Unreachable,
)
from contracts.ids import lane_of, lane_of_query

from .clock import ServerClock, time_reply_ms
from .config import BusConfig
from .dead import DeadLetters
from .durable import confirm_stored
from .events import Seen, follow, latest_event, trace_of
from .groups import agree_on_lanes
from .keys import Keys
from .log import Log, no_log
from .opening import Opening, mint_query_id, open_query
from .pause import Pause
from .results import Result, Waiters, read_results, response_of, streams_of
from .status import SystemStatus, live_workers, read_status
from .verify import Verification, verify
from .wire import Backend, UrlBackend, Wire, is_wrong_type, text

_CLOCK_TRUSTED_S = 10.0
_SUBMIT_TRIES = 5
_RECHECK_S = 2.0
_CHUNK = 100
_CHUNK_BYTES = 1 << 20


class Bus:
    """A client's connections. Use it as an async context manager."""

    def __init__(
        self,
        backend: Backend,
        config: BusConfig | None = None,
        topology: Topology = TOPOLOGY,
        *,
        log: Log = no_log,
    ) -> None:
        self._log = log
        self._backend = backend
        self.config = config or BusConfig()
        self._topology = topology
        self._clock = ServerClock()
        self._wire = Wire(backend, self.config.reply_timeout_s)
        self._reading: list[Wire] = []
        self._waiters: dict[int, Waiters] = {}
        self.dead = DeadLetters(self._wire, self.config, self._clock)
        """The dead letters: list, show, replay, discard."""

    async def __aenter__(self) -> Self:
        try:
            await agree_on_lanes(self._wire, self.config.lanes)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        for waiters in self._waiters.values():
            await waiters.close()
        for wire in (self._wire, *self._reading):
            await wire.close()

    async def submit(
        self, query: Query, *, idempotency_key: str | None = None, durable: bool = False
    ) -> str:
        """Accept a question; returns its query_id. The same key with the same question gives the same id.

        `durable` waits until the server's disk, or a replica, has it; NotDurable if that can't be said.
        Raises Overloaded when too many queries are open, IdempotencyConflict when the key belongs to another
        question, Invalid when the question can't be written, Unreachable when the server does not answer.
        """
        query_id = (await self.submit_many([query], idempotency_keys=[idempotency_key]))[0]
        if durable:
            await confirm_stored(self._wire, query_id, timeout_s=self.config.reply_timeout_s)
        return query_id

    async def submit_many(
        self, queries: Sequence[Query], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> list[str]:
        """Accept questions in order, a hundred a round trip.

        Raises the first refusal; queries that were `named` before can then all be submitted again.
        """
        keys = idempotency_keys or [None] * len(queries)
        await self._refresh_clock()
        ids: list[str] = []
        stamped = [self._stamp(query, key) for query, key in zip(queries, keys, strict=True)]
        for lane, chunk in _by_lane(stamped):
            ids += await self._submit(lane, chunk)
        return ids

    def named(self, query: Query, *, idempotency_key: str | None = None) -> Query:
        """The query with its id minted, so that its submit may be repeated, by another process too.

        A key that it will be submitted under is told here already: it decides the lane, and the id names that.
        """
        if query.query_id:
            return query
        lane = lane_of(idempotency_key or query.session_id, self.config.lanes)
        return query.model_copy(update={"query_id": mint_query_id(lane, self._clock.now_ms())})

    async def result(self, query_id: str, *, timeout_s: float = 60.0) -> FormattedResponse:
        """The result of a query, waited for; ResultTimeout leaves the query open."""
        lane = self._lane_of(query_id)
        key = Keys(lane).result(query_id)
        waiters = self._waiters.get(lane)
        if waiters is None:
            reading = Wire(self._backend, self.config.reply_timeout_s + 1.0)
            self._reading.append(reading)
            waiters = self._waiters[lane] = Waiters(lane, reading, self._wire)
        try:
            async with asyncio.timeout(timeout_s):
                await waiters.find_position()
                async with waiters.waiting(query_id) as future:
                    while not future.done():
                        raw = await self._stored(key)
                        if raw is not None:
                            return response_of(raw)
                        await asyncio.wait([future], timeout=_RECHECK_S)
                    return future.result()
        except TimeoutError:
            raise ResultTimeout(
                f"no result for {query_id} after {timeout_s:g} s; it is still open"
            ) from None

    async def _stored(self, key: str) -> bytes | None:
        """The result key; None also while the server is away, for it comes back, and over a stranger's list."""
        try:
            raw: bytes | None = await self._wire.call("GET", key)
        except Unreachable:
            return None
        except errors.ResponseError as error:
            if is_wrong_type(error):
                return None  # the result will overwrite it
            raise
        return raw

    async def results(self, outcome: str = "all", *, after: str = "$") -> AsyncIterator[Result]:
        """Results as they come: `answered`, `out_of_scope`, `rejected`, `failed` or `all`.

        `after`: `$` for those from now on, `0` for all that are kept, or the cursor of a result.
        """
        wire = Wire(self._backend, self.config.reply_timeout_s + 1.0)
        try:
            async for result in read_results(wire, streams_of(outcome, self.config.lanes), after):
                yield result
        finally:
            await wire.close()

    async def trace(self, query_id: str) -> list[Seen]:
        """The events of a query, hop by hop: digests, times and scores, no text."""
        return await trace_of(self._wire, self._lane_of(query_id), query_id)

    async def steps(self, query: Query) -> AsyncIterator[Seen]:
        """The events of the query's lane from now on, of whatever query; ask before the submit."""
        lane = lane_of(query.session_id, self.config.lanes)
        after = await latest_event(self._wire, lane)
        wire = Wire(self._backend, self.config.reply_timeout_s + 1.0)
        try:
            async for seen in follow(wire, lane, after):
                yield seen
        finally:
            await wire.close()

    async def pronounce_dead(self, stage: str, consumer: str) -> None:
        """Tell siblings at once that a consumer's process has ended: its work may be claimed."""
        for lane in range(self.config.lanes):
            await self._wire.call("DEL", Keys(lane).alive(stage, consumer))

    async def status(self) -> SystemStatus:
        """What is running, waiting, and done."""
        return await read_status(self._wire, self._topology, self.config.lanes)

    async def live_workers(self, stage: str) -> int:
        """How many workers of a stage live; KeyError names the stages there are."""
        return await live_workers(self._wire, self._topology.stage(stage), self.config.lanes)

    async def idle_stages(self) -> list[str]:
        """The stages without a live worker. Asks for less than `status`: a client may know it."""
        names = [stage.name for stage in self._topology.stages]
        return [name for name in names if not await self.live_workers(name)]

    async def verify(self) -> list[Verification]:
        """Whether the conservation law holds, lane by lane."""
        return [
            await verify(self._wire, Keys(lane), self._topology)
            for lane in range(self.config.lanes)
        ]

    def _lane_of(self, query_id: str) -> int:
        try:
            lane = lane_of_query(query_id)
        except ValueError:
            return 0  # a bare entry's own id: only lane 0 is documented for those
        return lane if lane < self.config.lanes else 0

    async def _refresh_clock(self) -> None:
        if self._clock.is_older_than(_CLOCK_TRUSTED_S):
            self._clock.set(time_reply_ms(await self._wire.call("TIME")))

    def _stamp(self, query: Query, key: str | None) -> tuple[int, str, Opening]:
        try:
            lane = lane_of(key or query.session_id, self.config.lanes)
            if query.query_id:
                lane = self._lane_of(query.query_id)
                named = query
            else:
                query_id = mint_query_id(lane, self._clock.now_ms())
                named = query.model_copy(update={"query_id": query_id})
            opening = open_query(
                named, now=self._clock.now(), deadline_s=self.config.deadline_s, source="submit"
            )
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise Invalid("the question is not valid Unicode (a lone surrogate)") from error
        if opening.is_too_large(self.config):
            raise Invalid(
                f"the query has {len(opening.body)} bytes; {self.config.max_payload_bytes} are allowed"
            )
        return lane, key or opening.query_id, opening

    async def _submit(self, lane: int, chunk: Sequence[tuple[str, Opening]]) -> list[str]:
        keys = Keys(lane)
        names = [keys.of(self._topology.entry.consumes), keys.open, keys.counters]
        names += [keys.idempotency(key) for key, _ in chunk]
        args: list[str | bytes | int] = [
            *(len(chunk), self.config.open_mark, int(self.config.idempotency_ttl_s * 1000))
        ]
        stored: list[str | bytes | int] = []
        for number, (_, opening) in enumerate(chunk, start=1):
            blob = opening.blob(keys, self.config)
            body = opening.body if blob is None else blob.reference
            args += [opening.query_id, opening.digest, opening.deadline_ms, body]
            if blob is not None:
                names.append(blob.key)
                stored += [number, blob.ttl_ms, blob.body]
        args += stored
        answers = await self._until_answered(names, args)
        ids = [self._accepted(text(status), text(query_id)) for status, query_id in answers]
        for (status, query_id), (_, opening) in zip(answers, chunk, strict=True):
            if text(status) == "ACCEPTED":
                facts = {"query_id": text(query_id), "lane": lane, "trace_id": opening.trace_id}
                self._log("query.accepted", **facts)
        return ids

    async def _until_answered(
        self, keys: list[str], args: list[str | bytes | int]
    ) -> list[tuple[bytes, bytes]]:
        """The ids are minted: a submit whose reply was lost is repeated and reads KNOWN."""
        pause = Pause()
        for left in reversed(range(_SUBMIT_TRIES)):
            try:
                answers: list[tuple[bytes, bytes]] = await self._wire.script("submit", keys, args)
                return answers
            except Unreachable:
                if not left:
                    raise
            except errors.ResponseError as error:
                raise Transient(f"the server refused the query: {error}") from error
            await pause.wait()
        raise AssertionError("the last try returns or raises")

    def _accepted(self, status: str, query_id: str) -> str:
        match status.partition(" "):
            case ("ACCEPTED" | "KNOWN", _, _):
                return query_id
            case ("CONFLICT", _, _):
                raise IdempotencyConflict(
                    f"the idempotency key belongs to {query_id}, which asks something else"
                )
            case ("OVERLOADED", _, _):
                raise Overloaded(
                    f"{self.config.open_mark} queries are open, no more are accepted; try again",
                    retry_after_s=1.0,
                )
            case (_, _, why):
                raise Transient(f"the server refused the query: {why}")


def _by_lane(
    stamped: Sequence[tuple[int, str, Opening]],
) -> list[tuple[int, list[tuple[str, Opening]]]]:
    """Runs of the same lane, in order, of at most a hundred and a MiB, or of one that is larger."""
    runs: list[tuple[int, list[tuple[str, Opening]]]] = []
    size = 0
    for lane, key, opening in stamped:
        size += len(opening.body)
        if not runs or runs[-1][0] != lane or len(runs[-1][1]) >= _CHUNK or size > _CHUNK_BYTES:
            runs.append((lane, []))
            size = len(opening.body)
        runs[-1][1].append((key, opening))
    return runs


def connect(url: str, config: BusConfig | None = None) -> Bus:
    """A client of the server at `url`."""
    return Bus(UrlBackend(url), config)
