"""A whole system on this machine: server, corpus, five worker processes, in the right order up and down."""

import asyncio
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bus import Bus
from contracts import TOPOLOGY, GroundwireError, Invalid, NoSystem, Unreachable
from groundwire import logs
from groundwire.births import starting
from groundwire.changes import FIXED, SERVER, change
from groundwire.client import bus_config, origin, server_at
from groundwire.corpus import is_root
from groundwire.embedded import EmbeddedServer, SystemLock, SystemState
from groundwire.nursery import Nursery
from groundwire.pins import worker_environment, write_pins
from groundwire.settings import Settings, redact_url
from groundwire.supervisor import Supervisor, WorkerSpec, child_environment
from groundwire.wiring import Intake, assemble, endpoint_of, grow_corpus, ingest_corpus

if TYPE_CHECKING:
    from groundwire.corpus import Ingestion, Progress

T = TypeVar("T")
OnStep = Callable[[str], None]
READY_S = 60.0
POLL_S = 0.05


@dataclass(frozen=True)
class System:
    """What is up: a client, the processes, and what was ingested (None: the corpus was there)."""

    bus: Bus
    url: str
    settings: Settings
    supervisor: Supervisor
    ingestion: "Ingestion | None"
    adopt: Callable[[Settings], tuple[str, ...]]
    """Have the workers go over to other settings; the names of what changed. Misconfigured: nothing has."""


class AlreadyUp(NoSystem):
    """Another process owns the system of this home."""


def worker_counts(text: str | None) -> dict[str, int]:
    """`understand=1,retrieve=2` as a mapping; what is not named runs once. Invalid names the fault."""
    counts = {stage.name: 1 for stage in TOPOLOGY.stages}
    for part in filter(None, (text or "").split(",")):
        name, equals, number = part.strip().partition("=")
        if name not in counts:
            raise Invalid(f"no stage {name!r}; there are: {', '.join(counts)}")
        if not equals or not number.isdigit():
            raise Invalid(f"{part!r}: expected STAGE=NUMBER, like retrieve=2")
        counts[name] = int(number)
    return counts


@asynccontextmanager
async def running_system(
    settings: Settings,
    *,
    docs: Path | None,
    counts: Mapping[str, int] | None = None,
    on_step: OnStep = lambda step: None,
    temporary: bool = False,
) -> AsyncIterator[System]:
    """Start everything under `settings.home`; on the way out workers drain first, the server stops last.

    The guard removes a `temporary` home if this process is killed.
    AlreadyUp if another process owns the home; Invalid if there is nothing to answer from.
    """
    if docs is None and not is_root(settings.corpus):
        raise Invalid("no documents yet: pass --docs PATH, or run `groundwire ingest PATH` first")
    counts = counts or worker_counts(None)
    async with AsyncExitStack() as stack:
        lock = await SystemLock.acquire(settings.home)
        if lock is None:
            raise AlreadyUp(f"a system is up already in {settings.home}")
        stack.enter_context(lock)
        on_step("starting the server")
        url, env, url_file = await _server(settings, stack, temporary=temporary)
        bus = await stack.enter_async_context(
            Bus(server_at(url, settings), bus_config(settings), origin=origin())
        )
        nursery = Nursery(settings.home / "logs" / "nursery.log", child_environment(env))
        pins = settings.home / "workers.json"
        write_pins(pins, settings)
        specs = [
            WorkerSpec(name, count, starting(nursery, name, "--variables", str(pins)))
            for name, count in counts.items()
        ]

        async def on_death(stage: str, consumer: str, code: int) -> None:
            for name in supervisor.names_of(consumer):
                await bus.pronounce_dead(stage, name)

        def adopt(new: Settings) -> tuple[str, ...]:
            changed = change(settings, new, (*FIXED, *SERVER))
            assemble(
                new.profile, new.corpus, new.intents, endpoint_of(new)
            )  # refused here, or by none
            write_pins(pins, new)
            supervisor.change()
            lock.publish(_state(new, url, url_file, docs, counts))
            return changed

        supervisor = Supervisor(specs, logs=settings.home / "logs", on_death=on_death, env=env)
        on_step("starting the workers")
        ingesting = asyncio.create_task(_ingest(settings, docs))
        growing: asyncio.Task[None] | None = None
        try:
            await supervisor.start()
            on_step("reading the documents")
            ingestion = await ingesting
            on_step("waiting for the workers")
            await _until_ready(bus, supervisor, counts, settings)
            lock.publish(_state(settings, url, url_file, docs, counts))
            if docs is not None and not temporary:
                growing = asyncio.create_task(_grow(settings))
            yield System(bus, url, settings, supervisor, ingestion, adopt)
        finally:
            await _cancel(ingesting, growing)
            on_step("draining the workers")
            await supervisor.stop(settings.grace_s + 1)
            await nursery.close()
            on_step("stopping the server")


@asynccontextmanager
async def private_system(
    settings: Settings, *, docs: Path | None, on_step: OnStep = lambda step: None
) -> AsyncIterator[System]:
    """A system of its own in a temporary folder, for one call; nothing of it is left."""
    home = Path(tempfile.mkdtemp(prefix="groundwire-"))
    corpus = home / "corpus" if docs is not None else settings.corpus
    own = settings.model_copy(
        update={"home": home, "corpus": corpus, "redis_url": None, "grace_s": 2.0}
    )
    try:
        async with running_system(own, docs=docs, on_step=on_step, temporary=True) as system:
            yield system
    finally:
        await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)


async def _server(
    settings: Settings, stack: AsyncExitStack, *, temporary: bool
) -> tuple[str, dict[str, str], Path | None]:
    """The server's URL, the environment of the workers, and the file that holds the URL."""
    env = os.environ | worker_environment(settings)
    if settings.redis_url is not None:
        return settings.redis_url.get_secret_value(), env, None
    env.pop("GROUNDWIRE_REDIS_URL", None)
    server = await stack.enter_async_context(
        await EmbeddedServer.start(settings.home, temporary=temporary)
    )
    return server.url, env | {"GROUNDWIRE_REDIS_URL_FILE": str(server.url_file)}, server.url_file


async def _ingest(settings: Settings, docs: Path | None) -> "Ingestion | None":
    if docs is None:
        return None
    return await _in_thread(partial(ingest_corpus, Intake.of(settings, [docs]), slow_later=True))


async def _grow(settings: Settings) -> None:
    """Add the vectors while the corpus answers by its words already."""
    log = logs.bus_log()
    with ThreadPoolExecutor(1, initializer=_give_way) as own:
        try:
            endpoint = endpoint_of(settings)
            grow = partial(
                grow_corpus, settings.corpus, profile=settings.profile, endpoint=endpoint
            )
            await _in_thread(grow, own)  # the corpus's history tells of the new version
        except (GroundwireError, OSError) as error:
            log("corpus.failed", error=str(error)[:200])


def _give_way() -> None:
    """Let questions have the cores first."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


class _Stopped(Exception):
    """Nobody waits for a change of the corpus any more."""


async def _in_thread(
    work: Callable[..., T], executor: ThreadPoolExecutor | None = None
) -> T | None:
    """Change the corpus off the loop. A thread can't be cancelled: it ends itself at its next step."""
    stop = threading.Event()

    def heed(_: "Progress") -> None:
        if stop.is_set():
            raise _Stopped

    def run() -> T | None:
        try:
            return work(on_progress=heed)
        except _Stopped:
            return None

    running = asyncio.get_running_loop().run_in_executor(executor, run)
    try:
        return await asyncio.shield(running)
    finally:
        stop.set()
        await asyncio.wait([running])  # it writes no file once its owner believes that it has ended


async def _cancel(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel those that were begun, and wait for their ends."""
    begun = [task for task in tasks if task is not None]
    for task in begun:
        task.cancel()
    await asyncio.gather(*begun, return_exceptions=True)


async def _until_ready(
    bus: Bus, supervisor: Supervisor, counts: Mapping[str, int], settings: Settings
) -> None:
    """Return when every stage has its workers alive; Unreachable names the log of one that fails."""
    wanted = {stage: count for stage, count in counts.items() if count}
    try:
        async with asyncio.timeout(READY_S):
            while True:
                alive = await _alive(bus)
                if all(alive.get(stage, 0) >= count for stage, count in wanted.items()):
                    return
                _complain(supervisor)
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise Unreachable(
            f"the workers are not ready after {READY_S:g} s: see {settings.home / 'logs'}"
        ) from None


async def _alive(bus: Bus) -> dict[str, int]:
    """Live workers by stage; none known while a busy machine keeps the server from answering."""
    try:
        return {stage.stage: stage.workers for stage in (await bus.status()).stages}
    except Unreachable:
        return {}


def _complain(supervisor: Supervisor) -> None:
    for worker in supervisor.workers():
        if worker.failing:
            last = worker.log_file.read_text(errors="replace").strip().splitlines()[-3:]
            raise Unreachable(
                f"the {worker.stage} worker dies at its start, see {worker.log_file}: "
                + redact_url(" | ".join(last))
            )


def _state(
    settings: Settings,
    url: str,
    url_file: Path | None,
    docs: Path | None,
    counts: Mapping[str, int],
) -> SystemState:
    return SystemState(
        url=redact_url(url),
        url_file=str(url_file) if url_file else None,
        docs=str(docs.resolve()) if docs else None,
        profile=settings.profile,
        workers=dict(counts),
    )
