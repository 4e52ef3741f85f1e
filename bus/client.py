"""The bus from outside: submit a question, wait for its result, follow the results, look at the state."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeVar

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
from contracts.ids import lane_of, lanes_of_query

from .awaiting import Awaiting
from .backend import Backend, UrlBackend
from .clock import ServerClock, time_reply_ms
from .config import BusConfig
from .dead import DeadLetters
from .durable import confirm_stored
from .events import Seen, follow, latest_event, trace_of
from .groups import agree_on_lanes
from .keys import Keys
from .log import Log, no_log
from .opening import Opening, mint_query_id, open_query
from .origin import Context, Origin
from .pause import Pause
from .results import Result, read_results, streams_of
from .status import LiveWorkers, SystemStatus, live_workers, read_status
from .survey import UnreachableLane, require_all, survey
from .verify import Proof, Verification, verify
from .wire import Wire, Wires, text

T = TypeVar("T")
_CLOCK_TRUSTED_S = 10.0
_SUBMIT_TRIES = 5
_NO_UNICODE = "the question is not valid Unicode (a lone surrogate)"
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
        origin: Origin | None = None,
        opens_partly: bool = False,
    ) -> None:
        """`opens_partly`: asks nobody at the start, so that the other lanes can be looked at while one is away."""
        self._log = log
        self._opens_partly = opens_partly
        self._has_agreed = False
        self._origin = origin
        self._backend = backend
        self.config = config or BusConfig()
        self._topology = topology
        self._clock = ServerClock()
        self._wires = Wires(backend, self.config.reply_timeout_s)
        self._awaiting = Awaiting(backend, self._wires, self.config)
        self.dead = DeadLetters(self._asked, self.config, self._clock)
        """The dead letters: list, show, replay, discard."""

    async def __aenter__(self) -> Self:
        if not self._opens_partly:
            try:
                await self._agree()
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
        await self._awaiting.close()
        await self._wires.close()

    async def _agree(self) -> None:
        """Misconfigured where the server was started with another number of lanes; Unreachable while it's unknown."""
        if not self._has_agreed:
            await agree_on_lanes(self._wires[0], self.config.lanes)
            self._has_agreed = True

    async def _asked(self, lane: int) -> Wire:
        """The wire of a lane, for a look at it; lane 0 is asked first what it hasn't said at the start."""
        if not lane:
            await self._agree()
        return self._wires[lane]

    async def submit(
        self, query: Query, *, idempotency_key: str | None = None, durable: bool = False
    ) -> str:
        """Accept a question; returns its query_id. The same key with the same question gives the same id.

        `durable` waits until the server's disk, or a replica, has it; NotDurable if that can't be said.
        Raises Overloaded when too many queries are open, IdempotencyConflict when the key belongs to another
        question, Invalid when the question can't be written, Unreachable when the server does not answer.
        """
        keys = [idempotency_key]
        return (await self.submit_many([query], idempotency_keys=keys, durable=durable))[0]

    async def submit_many(
        self,
        queries: Sequence[Query],
        *,
        idempotency_keys: Sequence[str | None] | None = None,
        durable: bool = False,
    ) -> list[str]:
        """Accept questions, in order within a lane, a hundred a round trip, all lanes at once; `durable` as in submit.

        Raises the first refusal; queries that were `named` before can then all be submitted again.
        """
        keys = idempotency_keys or [None] * len(queries)
        if not queries:
            return []
        await self._agree()
        await self._refresh_clock(self._lane_for(queries[0], keys[0]))
        if self._origin is None:
            untraced = [None] * len(queries)
            return await self._send(zip(queries, keys, untraced, strict=True), durable=durable)
        with self._origin.sending(self._topology.entry.consumes, queries) as sending:
            asked = zip(queries, keys, sending.contexts, strict=True)
            ids = await self._send(asked, durable=durable)
            sending.accepted(ids)
            return ids

    async def _send(
        self, asked: Iterable[tuple[Query, str | None, Context | None]], *, durable: bool
    ) -> list[str]:
        """Stamp and submit, all lanes at once; the ids in the order of the queries."""
        stamped = [self._stamp(*one) for one in asked]
        by_lane: dict[int, list[int]] = {}
        for number, (lane, _, _) in enumerate(stamped):
            by_lane.setdefault(lane, []).append(number)

        async def submit(lane: int) -> list[str]:
            wanted = [stamped[number][1:] for number in by_lane[lane]]
            return [
                query_id
                for chunk in _chunks(wanted)
                for query_id in await self._submit(lane, chunk, durable=durable)
            ]

        found = (
            [await submit(lane) for lane in by_lane]
            if len(by_lane) == 1
            else await _all(submit, by_lane)
        )
        by_number = {
            number: query_id
            for numbers, ids in zip(by_lane.values(), found, strict=True)
            for number, query_id in zip(numbers, ids, strict=True)
        }
        return [by_number[number] for number in range(len(stamped))]

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
        try:
            async with asyncio.timeout(timeout_s):
                return await self._awaiting.result(query_id)
        except TimeoutError:
            raise ResultTimeout(
                f"no result for {query_id} after {timeout_s:g} s; it is still open"
            ) from None

    async def results(
        self, outcome: str = "all", *, after: str = "$"
    ) -> AsyncGenerator[Result, None]:
        """Results as they come: `answered`, `out_of_scope`, `rejected`, `failed` or `all`.

        `after`: `$` for those from now on, `0` for all that are kept, or the cursor of a result. Those of a lane whose
        server is away follow once it is back.
        """
        streams = streams_of(outcome, self.config.lanes)
        wires = Wires(self._backend, self.config.reply_timeout_s + 1.0)
        try:
            async with aclosing(read_results(wires, streams, after)) as results:
                async for result in results:
                    yield result
        finally:
            await wires.close()

    async def trace(self, query_id: str) -> list[Seen]:
        """The events of a query, hop by hop: digests, times and scores, no text."""
        for lane in lanes_of_query(query_id, self.config.lanes):
            if found := await trace_of(self._wires[lane], lane, query_id):
                return found
        return []

    async def steps(self, query: Query) -> AsyncIterator[Seen]:
        """The events of the query's lane from now on, of whatever query; ask before the submit."""
        lane = lane_of(query.session_id, self.config.lanes)
        after = await latest_event(self._wires[lane], lane)
        wire = Wire(self._backend, self.config.reply_timeout_s + 1.0, lane)
        try:
            async for seen in follow(wire, lane, after):
                yield seen
        finally:
            await wire.close()

    async def pronounce_dead(self, stage: str, consumer: str) -> None:
        """Tell siblings at once that a consumer's process has ended: its work may be claimed."""

        async def pronounce(lane: int) -> list[str]:
            await self._wires[lane].call("DEL", Keys(lane).alive(stage, consumer))
            return []

        await _all(pronounce, range(self.config.lanes))

    async def status(self) -> SystemStatus:
        """What is running, waiting, and done, and which lanes' servers don't answer; Unreachable if none does."""
        return await read_status(self._asked, self._topology, self.config.lanes)

    async def unreachable_lanes(self) -> tuple[UnreachableLane, ...]:
        """The lanes whose servers don't answer; Unreachable if none does."""

        async def look(lane: int) -> None:
            await (await self._asked(lane)).call("TIME")

        return (await survey(look, self.config.lanes))[1]

    async def live_workers(self, stage: str) -> LiveWorkers:
        """How many workers of a stage live; KeyError names the stages there are, Unreachable if no server answers."""
        return await live_workers(self._asked, self._topology.stage(stage), self.config.lanes)

    async def idle_stages(self) -> list[str]:
        """The stages without a live worker. Asks for less than `status`: a client may know it."""
        names = [stage.name for stage in self._topology.stages]
        return [name for name in names if not (await self.live_workers(name)).count]

    async def verify(self) -> list[Verification]:
        """Whether the conservation law holds, lane by lane; Unreachable unless each can be read."""
        proof = await self.prove()
        require_all(proof.unreachable)
        return list(proof.lanes)

    async def prove(self) -> Proof:
        """The same, with the lanes named whose servers don't answer; Unreachable if none does."""

        async def read(lane: int) -> Verification:
            return await verify(await self._asked(lane), Keys(lane), self._topology)

        return Proof(*await survey(read, self.config.lanes))

    def _lane_of(self, query_id: str) -> int:
        """The lane for a query to submit: one that its id names, else the first."""
        return lanes_of_query(query_id, self.config.lanes)[0]

    def _lane_for(self, query: Query, key: str | None) -> int:
        """The lane that a query belongs to."""
        if query.query_id:
            return self._lane_of(query.query_id)
        try:
            return lane_of(key or query.session_id, self.config.lanes)
        except UnicodeEncodeError as error:
            raise Invalid(_NO_UNICODE) from error

    async def _refresh_clock(self, lane: int) -> None:
        if self._clock.is_older_than(_CLOCK_TRUSTED_S):
            self._clock.set(time_reply_ms(await _repeated(lambda: self._wires[lane].call("TIME"))))

    def _stamp(
        self, query: Query, key: str | None, context: Context | None
    ) -> tuple[int, str, Opening]:
        try:
            lane = self._lane_for(query, key)
            query_id = query.query_id or mint_query_id(lane, self._clock.now_ms())
            named = query.model_copy(update={"query_id": query_id})
            opening = open_query(
                named,
                now=self._clock.now(),
                deadline_s=self.config.deadline_s,
                source="submit",
                context=context,
            )
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise Invalid(_NO_UNICODE) from error
        if opening.is_too_large(self.config):
            raise Invalid(
                f"the query has {len(opening.body)} bytes; {self.config.max_payload_bytes} are allowed"
            )
        return lane, key or opening.query_id, opening

    async def _submit(
        self, lane: int, chunk: Sequence[tuple[str, Opening]], *, durable: bool
    ) -> list[str]:
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
        answers = await self._until_answered(lane, names, args)
        ids = [self._accepted(text(status), text(query_id)) for status, query_id in answers]
        for query_id, (status, _), (_, opening) in zip(ids, answers, chunk, strict=True):
            if text(status) == "ACCEPTED":
                self._log("query.accepted", query_id=query_id, lane=lane, trace_id=opening.trace_id)
        if durable:
            await confirm_stored(
                self._wires[lane],
                ids[-1],
                replicas=self.config.durable_replicas,
                timeout_s=self.config.reply_timeout_s,
            )
        return ids

    async def _until_answered(
        self, lane: int, keys: list[str], args: list[str | bytes | int]
    ) -> list[tuple[bytes, bytes]]:
        """The ids are minted: a submit whose reply was lost is repeated and reads KNOWN."""
        try:
            answers: list[tuple[bytes, bytes]] = await _repeated(
                lambda: self._wires[lane].script("submit", keys, args)
            )
        except errors.ResponseError as error:
            raise Transient(f"the server refused the query: {error}") from error
        return answers

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


def _chunks(wanted: Sequence[tuple[str, Opening]]) -> list[list[tuple[str, Opening]]]:
    """Of at most a hundred and a MiB, or of one that is larger; in order."""
    chunks: list[list[tuple[str, Opening]]] = []
    size = 0
    for key, opening in wanted:
        size += len(opening.body)
        if not chunks or len(chunks[-1]) >= _CHUNK or size > _CHUNK_BYTES:
            chunks.append([])
            size = len(opening.body)
        chunks[-1].append((key, opening))
    return chunks


async def _repeated(ask: Callable[[], Awaitable[T]]) -> T:
    """What a server says that may be away for a moment: a replica takes over in about a second."""
    pause = Pause()
    for _ in range(_SUBMIT_TRIES - 1):
        try:
            return await ask()
        except Unreachable:
            await pause.wait()
    return await ask()


async def _all(do: Callable[[int], Awaitable[list[str]]], lanes: Iterable[int]) -> list[list[str]]:
    """What each lane gives; each comes to its end before the first refusal of any is raised."""
    found = await asyncio.gather(*map(do, lanes), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


def connect(url: str, config: BusConfig | None = None) -> Bus:
    """A client of the server at `url`."""
    return Bus(UrlBackend(url), config)
