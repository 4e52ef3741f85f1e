"""The arena: one system under attack, with everything that a fault may lay its hands on.

Server, proxy and workers are real; the raw connection goes past the proxy, for attacks and for the account.
"""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from bus import Backend, Bus, BusConfig, Verification
from bus.durable import confirm_stored
from bus.keys import LANES, Keys, lane_of_key
from bus.results import lanes_of, latest, streams_of
from bus.wire import Arg, Wires
from contracts import TOPOLOGY, NotDurable, Transient, Unreachable
from contracts.address import parse_address
from groundwire.births import starting
from groundwire.embedded import TemporaryServer
from groundwire.embedded.several import TemporaryCluster
from groundwire.nursery import Nursery
from groundwire.supervisor import Supervisor, WorkerInfo, WorkerSpec, child_environment

from .book import Book
from .load import Load
from .plan import Need, Strike
from .proxy import Proxy
from .site import Guest, Site, keys_like, open_site
from .worker import PROGRAM, Brief

T = TypeVar("T")
OnDeath = Callable[[str, str, int], Awaitable[None]]

OPEN_MARK = 150
CONFIG = BusConfig(
    alive_ttl_s=1.0,
    lease_s=5.0,
    block_s=0.5,
    grace_s=2.0,
    reply_timeout_s=1.5,
    retry_base_s=0.1,
    retry_cap_s=1.0,
    wedge_limit_s=2.0,
    open_mark=OPEN_MARK,
    blob_bytes=6 << 10,
    results_kept=100_000_000,
    events_kept=10_000,
)
"""Production's limits with shorter times and smaller blobs; nothing of the account is trimmed."""
HASTY_S = 1.5
"""The deadline of a hasty query: long enough to come to any stage, too short for a slow handler there."""
_CONNECTIONS = 6
_READY_S = 60.0
_POLL_S = 0.05
_ONCE_MS = 600_000
_ADD_ONCE = """
local added = redis.call('GET', KEYS[2])
if added then return added end
if redis.pcall('SET', KEYS[2], '', 'PX', ARGV[1]).err then return nil end
added = redis.pcall('XADD', KEYS[1], '*', unpack(ARGV, 2))
if type(added) == 'table' then
  redis.pcall('DEL', KEYS[2])
  return nil
end
redis.pcall('SET', KEYS[2], added, 'PX', ARGV[1])
return added
"""


@dataclass(frozen=True)
class Setup:
    """What a run is made of; without a guest, the server is its own."""

    workers: int = 2
    lanes: int = 1
    guest: Guest | None = None
    logs: Path | None = None
    """Where the workers' logs are kept."""
    clustered: bool = False
    """Whether the server of its own is a cluster."""

    @property
    def config(self) -> BusConfig:
        """The limits of its bus."""
        return replace(CONFIG, lanes=self.lanes)

    @property
    def offers(self) -> frozenset[Need]:
        """What of the needs of faults it meets."""
        if self.guest is not None:
            is_several = parse_address(self.guest.url).is_replicated
            return frozenset[Need]({"any"} if is_several else {"any", "one server"})
        if self.clustered:
            return frozenset[Need]({"any", "own cluster"})
        return frozenset[Need]({"any", "own server", "one server"})


@dataclass(frozen=True)
class Start:
    """What lay on the server before: none of it is the run's."""

    verification: tuple[Verification, ...]
    results: Mapping[str, str]
    """The last entry of each result stream."""
    blobs: frozenset[str]
    """The keys of blobs."""


@dataclass(frozen=True)
class Arena:
    """What is up."""

    site: Site
    front: Proxy | None
    """Between the server and everybody, where there is one server."""
    supervisor: Supervisor
    load: Load
    book: Book
    wires: Wires
    direct: Bus
    start: Start
    spec: Callable[..., WorkerSpec]
    """Of a stage, so many workers, with these further options."""
    on_death: OnDeath
    """What a supervisor does about a worker that died."""
    killing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held as long as a fault has the server, or a node, down."""
    afterwards: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)
    """What goes on when a fault is over."""
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def server(self) -> TemporaryServer:
        """The run's own server, for faults that need one."""
        assert self.site.own is not None, "this fault is left out where the server is another's"
        return self.site.own

    @property
    def cluster(self) -> TemporaryCluster:
        """The run's own cluster, for faults that need one."""
        assert self.site.cluster is not None, "this fault is left out where there is none"
        return self.site.cluster

    @property
    def proxy(self) -> Proxy:
        """Between the server and everybody, for faults of the network."""
        assert self.front is not None, "this fault is left out where there are several servers"
        return self.front

    async def command(self, *args: Arg, lane: int | None = None) -> Any:
        """A raw command, to the lane of the first key in it, repeated until its server answers."""
        keys = (arg for arg in args if isinstance(arg, str) and arg.startswith("gw:{"))
        named = lane_of_key(next(keys, LANES)) if lane is None else lane
        return await self.until_answered(lambda: self.wires[named].call(*args))

    async def until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What asking gives once the server answers: a connection may be older than it, a key of another type."""
        while True:
            try:
                return await ask()
            except Transient:
                await asyncio.sleep(_POLL_S)

    async def add(self, stream: str, fields: Sequence[Arg]) -> str:
        """Put an entry on a stream as a stranger does, once, even if a reply is lost; returns its id."""
        once = f"{stream}:chaos:{next(self._numbers)}"
        while True:
            added = await self.command("EVAL", _ADD_ONCE, 2, stream, once, _ONCE_MS, *fields)
            if added is not None and await self._is_kept(stream):
                return str(added.decode())
            await asyncio.sleep(_POLL_S)  # the server is full, or another fault has the stream

    async def _is_kept(self, key: str) -> bool:
        """Whether what was just written outlasts a failover, where there may be one."""
        wire = self.wires[lane_of_key(key)]
        if not wire.is_replicated:
            return True
        limit_s = self.direct.config.reply_timeout_s
        try:
            await confirm_stored(wire, key, replicas=1, timeout_s=limit_s)
        except NotDurable:
            return False
        return True

    async def leaked(self) -> tuple[str, ...]:
        """The keys of blobs that the run has left; each should have gone with its message."""
        found = await self.until_answered(lambda: _blobs(self.wires, self.direct.config.lanes))
        return tuple(sorted(found - self.start.blobs))

    def keys(self, strike: Strike) -> Keys:
        """The lane that is struck."""
        return Keys(strike.pick % self.direct.config.lanes)

    def work_stream(self, strike: Strike) -> str:
        """The key of the work stream that is struck."""
        return self.keys(strike).of(TOPOLOGY.stage(strike.stage).consumes)

    async def victim(self, strike: Strike) -> WorkerInfo:
        """The living worker that is struck; waits until its stage has one."""
        while True:
            workers = self.supervisor.workers()
            alive = [one for one in workers if one.stage == strike.stage and one.pid]
            if alive:
                return alive[strike.pick % len(alive)]
            await asyncio.sleep(_POLL_S)

    @asynccontextmanager
    async def newer_worker(self, stage: str) -> AsyncIterator[None]:
        """One more worker of the stage, of the next version, kept alive like the others."""
        specs = [self.spec(stage, 1, "--newer")]
        logs = self.site.home / "newer"
        async with Supervisor(specs, logs=logs, on_death=self.on_death) as supervisor:
            await supervisor.start()
            yield
            await supervisor.stop(self.direct.config.grace_s)


@asynccontextmanager
async def open_arena(setup: Setup, seed: int) -> AsyncIterator[Arena]:
    """A system, ready; nothing of it is left afterwards, logs asked for apart."""
    config = setup.config
    async with AsyncExitStack() as stack:
        opening = open_site(setup.guest, config, clustered=setup.clustered)
        site = await stack.enter_async_context(opening)
        front: Proxy | None = None
        if "one server" in setup.offers:
            front = await stack.enter_async_context(Proxy(site.url, site.tls))
        told = Brief(site.url, config, site.tls) if front is None else Brief(front.url, config)
        brief = site.home / "brief.json"
        told.write(brief)
        wires = Wires(site.backend, config.reply_timeout_s)
        stack.push_async_callback(wires.close)

        direct = await _client(stack, site.backend, config)
        book = Book()
        load = await _load(stack, told.backend, config, book, seed)

        async def on_death(stage: str, consumer: str, code: int) -> None:
            await load.bus.pronounce_dead(stage, consumer)

        logs = setup.logs or site.home / "logs"
        nursery = Nursery(logs / "nursery.log", child_environment(os.environ), program=PROGRAM)
        stack.push_async_callback(nursery.close)

        def spec(stage: str, count: int, *options: str) -> WorkerSpec:
            options = ("--brief", str(brief), *options)
            return WorkerSpec(stage, count, starting(nursery, stage, *options))

        specs = [spec(stage.name, setup.workers) for stage in TOPOLOGY.stages]
        async with Supervisor(specs, logs=logs, on_death=on_death) as supervisor:
            start = await _start(direct, wires)
            await supervisor.start()
            try:
                await _until_ready(direct, setup.workers)
                async with asyncio.TaskGroup() as afterwards:
                    yield Arena(
                        site=site,
                        front=front,
                        supervisor=supervisor,
                        load=load,
                        book=book,
                        wires=wires,
                        direct=direct,
                        start=start,
                        spec=spec,
                        on_death=on_death,
                        afterwards=afterwards,
                    )
            finally:
                _thaw_all(supervisor)
                await supervisor.stop(config.grace_s)


async def _client(stack: AsyncExitStack, backend: Backend, config: BusConfig) -> Bus:
    return await stack.enter_async_context(Bus(backend, config))


async def _load(
    stack: AsyncExitStack, backend: Backend, config: BusConfig, book: Book, seed: int
) -> Load:
    buses = [await _client(stack, backend, config) for _ in range(_CONNECTIONS)]
    hasty = await _client(stack, backend, replace(config, deadline_s=HASTY_S))
    return Load(buses, hasty, book, seed, durable=backend.is_replicated)


async def _start(bus: Bus, wires: Wires) -> Start:
    lanes = bus.config.lanes
    last: dict[str, str] = {}
    for lane, streams in lanes_of(streams_of("all", lanes)).items():
        last |= await latest(wires[lane], streams)
    return Start(tuple(await bus.verify()), last, await _blobs(wires, lanes))


async def _blobs(wires: Wires, lanes: int) -> frozenset[str]:
    found = [await keys_like(wires[lane], Keys(lane).blob("*")) for lane in range(lanes)]
    return frozenset(key for keys in found for key in keys)


def _thaw_all(supervisor: Supervisor) -> None:
    for worker in supervisor.workers():
        signal_to(worker, signal.SIGCONT)


def signal_to(worker: WorkerInfo, number: signal.Signals) -> None:
    """Signal a worker's process, if it is still there."""
    if worker.pid is not None:
        try:
            os.kill(worker.pid, number)
        except ProcessLookupError:
            return


async def in_thread(work: Callable[[], None]) -> None:
    """Run blocking work beside the loop, and see it end even when cancelled: a server is half up else."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await running
        raise


async def _until_ready(bus: Bus, workers: int) -> None:
    try:
        async with asyncio.timeout(_READY_S):
            while True:
                stages = (await bus.status()).stages
                if all(stage.workers >= workers for stage in stages):
                    return
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        raise Unreachable(f"the workers are not ready after {_READY_S:g} s") from None
