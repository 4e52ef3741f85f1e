"""What the bus tests share: the two backends, a system of in-process workers, and waiting for a condition."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import fakeredis
import redis

from bus import Backend, Became, Bus, BusConfig, Handling, Hop, UrlBackend, Watch, Worker
from bus.delivery import fields_of
from bus.failed import DeadRecord
from bus.keys import Keys
from bus.results import response_of
from bus.runner import Handler
from bus.verify import Verification
from bus.wire import Arg, Wire, text
from contracts import (
    OUTCOMES,
    TOPOLOGY,
    ChannelPayload,
    FormattedResponse,
    Intent,
    OutOfScope,
    OutOfScopeReason,
    Query,
    Rejected,
    Unreachable,
    Value,
)
from contracts.address import Node
from groundwire import noop

T = TypeVar("T")

FAST = BusConfig(
    alive_ttl_s=0.8,
    tick_s=0.05,
    retry_base_s=0.02,
    retry_cap_s=0.05,
    block_s=0.2,
    deadline_s=60.0,
)
"""Production's limits with shorter times."""

STAGES = tuple(stage.name for stage in TOPOLOGY.stages)
NOOP: Mapping[str, Handler] = noop.HANDLERS

FAKEREDIS_CANNOT: Mapping[str, str] = {
    "oom": "it has no maxmemory: no write is ever refused for want of memory",
    "processes": "it lives in this process: it can be neither killed, frozen nor restarted",
    "connections": "its replies are never lost or late",
    "unblock": "CLIENT UNBLOCK is accepted and does nothing, so a drain waits for BLOCK",
    "types": "its XREAD of a key of another type ends in an AttributeError of its own",
}
"""What is tested on the real server alone (`mark.server`), and why."""


class FakeBackend:
    """Connections to one fakeredis server in this process."""

    def __init__(self) -> None:
        self._server = fakeredis.FakeServer()

    is_replicated = False

    async def connect(self, lane: int, timeout_s: float, node: Node | None = None) -> Any:
        """A fake connection; as with the real one, how long to wait is the wire's to decide."""
        client = fakeredis.FakeAsyncRedis(server=self._server, protocol=2, socket_timeout=None)
        connection = client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
        await connection.connect()
        return connection

    def sync_client(self, lane: int, timeout_s: float) -> redis.Redis:
        """A client for the beat thread."""
        return fakeredis.FakeRedis(server=self._server, protocol=2)

    def forget(self, lane: int, node: Node | None = None) -> None:
        """There is but one."""


async def soon(condition: Callable[[], Awaitable[T]], within_s: float = 30.0, why: str = "so") -> T:
    """The condition's first true value; fails when there is none in time."""
    deadline = time.monotonic() + within_s
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"not {why} within {within_s:g} s"
        await asyncio.sleep(0.005)
    return value


async def holds(condition: Callable[[], bool], within_s: float = 30.0, why: str = "so") -> None:
    """The same for a condition that asks no server."""

    async def asked() -> bool:
        return condition()

    await soon(asked, within_s, why)


@dataclass
class Lines:
    """A log that remembers."""

    lines: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def __call__(self, event: str, /, **fields: object) -> None:
        """Take note."""
        self.lines.append((event, fields))

    def count(self, event: str) -> int:
        """How often something was said."""
        return sum(name == event for name, _ in self.lines)


HANDLING = Handling("critic", 0, "0-a", "1-0", 1, 1, traceparent=f"00-{'a' * 32}-{'b' * 16}-01")


def hop(became: Became, *, is_redelivery: bool = False) -> Hop:
    """What a watch is told of HANDLING."""
    of = HANDLING
    return Hop(became, lambda: of, of.query_id, of.traceparent, is_redelivery, 0.004, 0.002)


class Noted:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []
        self.lags: list[float] = []
        self.is_measuring = True
        self.begun: list[Handling] = []
        self.started: Callable[[Callable[[], Handling]], None] | None = self._begin

    def _begin(self, tell: Callable[[], Handling]) -> None:
        self.begun.append(tell())

    def settled(self, hop: Hop, /) -> None:
        """Take note."""
        self.hops.append(hop)

    def lagged(self, seconds: float, /) -> None:
        """Take note."""
        self.lags.append(seconds)


@dataclass
class Running:
    """A worker, the task it runs in, and what it said."""

    worker: Worker
    task: "asyncio.Task[None]"
    stage: str
    consumer: str
    log: Lines

    async def stop(self, within_s: float = 30.0) -> float:
        """Drain; returns how long that took, in seconds."""
        started = time.monotonic()
        self.worker.stop()
        async with asyncio.timeout(within_s):
            await self.task
        return time.monotonic() - started

    async def vanish(self) -> None:
        """End without a goodbye, as near to kill -9 as one process can come."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class System:
    """A server, a client of it, and the workers that a test starts."""

    def __init__(self, backend: Backend, config: BusConfig = FAST) -> None:
        self.backend = backend
        self.config = config
        self.keys = Keys(0)
        self.bus = Bus(backend, config)
        self._wire = Wire(backend, 20.0)
        self._numbers = iter(range(1, 1_000_000))

    async def __aenter__(self) -> Self:
        await self.bus.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.bus.close()
        await self._wire.close()

    def backend_of(self, stage: str) -> Backend:
        """What the workers of a stage connect by."""
        return self.backend

    async def call(self, *args: Arg) -> Any:
        """A raw command, as any Redis client would send it; once more on a connection that has died."""
        try:
            return await self._wire.call(*args)
        except Unreachable:
            return await self._wire.call(*args)

    async def script(self, name: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
        """One of the bus's scripts."""
        return await self._wire.script(name, keys, args)

    async def add(self, stream: str, *fields: Arg) -> str:
        """An entry put on a stream by hand; returns its id."""
        return text(await self.call("XADD", self.keys.of(stream), "*", *fields))

    def start(
        self,
        stage: str,
        handler: Handler | None = None,
        *,
        config: BusConfig | None = None,
        consumer: str | None = None,
        jitter: Callable[[], float] = random.random,
        watch: Watch | None = None,
        **changes: Any,
    ) -> Running:
        """A worker of a stage, not awaited; `changes` are fields of the configuration."""
        consumer = consumer or f"{stage}-{next(self._numbers)}"
        log = Lines()
        worker = Worker(
            TOPOLOGY.stage(stage),
            handler or NOOP[stage],
            backend=self.backend_of(stage),
            consumer=consumer,
            config=replace(config or self.config, **changes),
            configdigest="digest",
            log=log,
            jitter=jitter,
            watch=watch,
        )
        return Running(worker, asyncio.create_task(worker.run()), stage, consumer, log)

    @asynccontextmanager
    async def running(
        self, *stages: str, handlers: Mapping[str, Handler] | None = None, **changes: Any
    ) -> AsyncIterator[dict[str, Running]]:
        """Workers of these stages (all where none is named), ready; drained at the end."""
        workers: dict[str, Running] = {}
        try:
            for stage in stages or STAGES:
                workers[stage] = self.start(stage, (handlers or {}).get(stage), **changes)
            for running in workers.values():
                await ready(running)
            yield workers
        finally:
            await asyncio.gather(*(leave(running) for running in workers.values()))

    async def ask(self, question: str = "why?", timeout_s: float = 60.0) -> FormattedResponse:
        """Submit and wait."""
        query_id = await self.bus.submit(query(question))
        return await self.bus.result(query_id, timeout_s=timeout_s)

    async def verification(self) -> Verification:
        """Both sides of the conservation law, asked again on a connection that has died."""
        try:
            return (await self.bus.verify())[0]
        except Unreachable:
            return (await self.bus.verify())[0]

    async def settled(self, within_s: float = 60.0) -> Verification:
        """Nothing is open any more, and the conservation law is exact.

        No stream holds or owes an entry, and no query has two results.
        """

        async def done() -> bool:
            if await self.call("ZCARD", self.keys.open):
                return False  # asked often: a verification walks the whole queue
            found = await self.verification()
            return found.open == 0 and found.working == 0 and found.holds

        try:
            await soon(done, within_s)
        except AssertionError:
            raise AssertionError(f"not settled: {await self.verification()}") from None
        for stage in STAGES:
            assert await self.pending(stage) == 0, stage
        found = await self.verification()
        assert found.queries_balance, found
        await self._no_query_has_two_results(found)
        return found

    async def _no_query_has_two_results(self, found: Verification) -> None:
        seen: list[str] = []
        for outcome in OUTCOMES:
            responses = await self.results(outcome)
            assert len(responses) == found.outcomes[outcome], (outcome, found)
            seen += [r.query_id for r in responses if r.supersedes is None]
        assert len(seen) == len(set(seen))

    async def pending(self, stage: str) -> int:
        """How many deliveries of a stage are not acknowledged; 0 where it has no group yet."""
        stream = self.keys.of(TOPOLOGY.stage(stage).consumes)
        groups = await self.call("XINFO", "GROUPS", stream) if await self._exists(stream) else []
        return sum(
            int(dict(zip(group[::2], group[1::2], strict=True))[b"pending"]) for group in groups
        )

    async def deliveries(self, stage: str) -> dict[str, tuple[str, int]]:
        """Pending entries: id → consumer, how often delivered."""
        stream = self.keys.of(TOPOLOGY.stage(stage).consumes)
        rows = await self.call("XPENDING", stream, stage, "-", "+", 1000)
        return {text(row[0]): (text(row[1]), row[3]) for row in rows}

    async def backlog(self, stream: str) -> int:
        """Entries of a work stream, delivered or not."""
        return int(await self.call("XLEN", self.keys.of(stream)))

    async def counter(self, name: str) -> int:
        """A counter of the lane."""
        return int(await self.call("HGET", self.keys.counters, name) or 0)

    async def results(self, outcome: str) -> list[FormattedResponse]:
        """All that is on a result stream."""
        entries = await self.call("XRANGE", self.keys.of(f"results.{outcome}"), "-", "+")
        fields = [fields_of(flat) for _, flat in entries]
        return [response_of(f[b"event"], f.get(b"supersedes")) for f in fields]

    async def dead(self) -> list[DeadRecord]:
        """The records of all dead letters, newest first."""
        return [entry.record for entry in await self.bus.dead.list(1000)]

    async def everything(self) -> bytes:
        """Every byte of every result, record and event, to look for what must not be there."""
        found = b""
        for name in (*(f"results.{outcome}" for outcome in OUTCOMES), "dead", "events"):
            for _, flat in await self.call("XRANGE", self.keys.of(name), "-", "+"):
                found += b" ".join(flat)
        return found

    async def _exists(self, key: str) -> bool:
        return bool(await self.call("EXISTS", key))


async def ready(running: Running) -> None:
    """Wait until a worker reads; its error where it ended instead."""
    waiting = asyncio.create_task(running.worker.ready.wait())
    async with asyncio.timeout(30):
        await asyncio.wait({waiting, running.task}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if running.task.done():
        await running.task


async def leave(running: Running) -> None:
    """Drain a worker; one that vanished has left already."""
    if not running.task.cancelled():
        await running.stop()


def url_backend(url: str) -> Backend:
    """The real server."""
    return UrlBackend(url)


def query(question: str = "why?", session: str = "session") -> Query:
    """A question."""
    return Query(text=question, session_id=session)


def out_of_scope(reason: OutOfScopeReason = "no_label") -> Handler:
    """An `understand` that takes nothing on."""

    async def understand(asked: Query) -> Value:
        return OutOfScope(intent=await noop.understand(asked), reason=reason)

    return understand


async def reject(draft: Any) -> Rejected:
    """A critic that likes nothing."""
    return Rejected(intent=draft.intent, corpus_version="v", checks=())


async def format_any(verdict: Any) -> FormattedResponse:
    """A `format` that knows every verdict."""
    intent: Intent = verdict.intent
    status: Any = {"approved": "approved", "clarification": "clarification_needed"}.get(
        verdict.type, verdict.type
    )
    return FormattedResponse(
        query_id=intent.query.query_id,
        session_id=intent.query.session_id,
        channel=intent.query.channel,
        status=status,
        label=intent.label,
        confidence=intent.confidence,
        display_text=status,
        channel_json=ChannelPayload(status=status, message=status),
    )
