"""Workers: a stage's handler on the current corpus, at its place on the bus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import TOPOLOGY, Misconfigured, Permanent, Stage, Transient

from .assembly import Corpus, assemble, endpoint_of, stand_in
from .handlers import Handler, Retrieving, Understanding, build_handler
from .rules import USED, Reader

if TYPE_CHECKING:
    from bus import Log, Watch, Worker
    from groundwire.corpus.remote import Remote
    from groundwire.settings import Settings

CORPUS_POLL_S = 0.5
FOLLOW_S = 5.0
WARM_S = 0.2


async def await_corpus(root: Path, stop: asyncio.Event, log: "Log") -> bool:
    """Wait until documents have been ingested under `root`; False if `stop` came first."""
    from groundwire.corpus import is_root

    told = False
    while not is_root(root):
        if not told:
            log("corpus.waiting", root=str(root), hint="run `groundwire ingest PATH`")
            told = True
        try:
            async with asyncio.timeout(CORPUS_POLL_S):
                await stop.wait()
                return False
        except TimeoutError:
            continue
    return True


@asynccontextmanager
async def following(url: str | None, root: Path, log: "Log") -> AsyncIterator[None]:
    """Fetch every version that becomes current at `url`, until the block ends; nothing without a URL."""
    if url is None:
        yield
        return
    from groundwire.corpus.remote import Remote

    task = asyncio.create_task(_follow(Remote(url), root, log))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _follow(remote: "Remote", root: Path, log: "Log") -> None:
    from contracts import GroundwireError
    from groundwire.corpus import Busy, unheard

    told = ""
    while True:
        try:
            version = await asyncio.to_thread(remote.fetch, root, unheard)
            if version is not None:
                log("corpus.fetched", version=version)
            told = ""
        except Busy:
            told = ""  # another worker of this machine fetches it for all
        except GroundwireError as error:
            if str(error) != told:
                log("corpus.unreachable", error=str(error))
            told = str(error)
        await asyncio.sleep(FOLLOW_S)


async def warm(handler: Handler, log: "Log") -> None:
    """Load before the worker says that it is ready: a first query must not be answered seconds late."""
    if not isinstance(handler, Understanding | Retrieving):
        return
    try:
        await handler.warm()
    except Transient as error:  # an endpoint that is down now stops no worker: queries are retried
        log("worker.cold", error=str(error))


@asynccontextmanager
async def keeping_warm(handler: Handler, corpus: Corpus, log: "Log") -> AsyncIterator[None]:
    """Load every version that becomes current at once, until the block ends: its first query needn't wait for it."""
    task = asyncio.create_task(_keep_warm(handler, corpus, log))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_warm(handler: Handler, corpus: Corpus, log: "Log") -> None:
    if not isinstance(handler, Understanding | Retrieving):
        return
    warmed = corpus.current_version()
    while True:
        await asyncio.sleep(WARM_S)
        try:
            current = corpus.current_version()
            if current != warmed:
                warmed = current  # also where it fails: who asks is told, and the next version may be whole
                await warm(handler, log)
        except Permanent as error:
            log("worker.cold", error=str(error))


@dataclass(frozen=True)
class Built:
    """A worker with its handler, and the corpus that both read."""

    worker: "Worker"
    handler: Handler
    corpus: Corpus


def place_of(stage: str) -> Stage:
    """A stage by its name; Misconfigured says which there are."""
    try:
        return TOPOLOGY.stage(stage)
    except KeyError as error:
        raise Misconfigured(str(error.args[0])) from error


async def build_worker(
    stage: str,
    settings: "Settings",
    *,
    url: str,
    consumer: str,
    log: "Log",
    watch: "Watch | None" = None,
) -> Built:
    """The worker of one stage: its handler on the current corpus, its place on the bus."""
    from bus import Worker
    from groundwire.client import bus_config, server_at

    place = place_of(stage)
    if (note := stand_in(settings.profile)) is not None:
        log("profile.fallback", note=note)
    assembly = assemble(
        settings.profile,
        settings.corpus,
        settings.intents,
        endpoint_of(settings),
        on_fault=lambda fault: log("intents.faulty", fault=fault),
    )
    handler = build_handler(stage, assembly)
    await warm(handler, log)
    wording = (await Reader(assembly).rules()).wording
    worker = Worker(
        place,
        handler,
        backend=server_at(url, settings),
        consumer=consumer,
        config=bus_config(settings),
        configdigest=assembly.digest,
        used_digest=USED.get,
        failed_message=wording.failed,
        log=log,
        watch=watch,
    )
    return Built(worker, handler, assembly.corpus)
