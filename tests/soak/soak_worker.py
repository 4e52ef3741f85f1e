"""One worker process of these tests: agents that do nothing, but what a query's mark tells them to.

Release 2 has a second version of one message between its first two stages. It writes the id of every query that its
handler begins to a file, one a line: how often a handler ran is counted there.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bus import UrlBackend, Worker
from contracts import TOPOLOGY, Intent, Query, Value
from groundwire import logs, noop
from groundwire.chaos.agents import mark_of
from groundwire.chaos.versions import NEWER, PRESENT, NewerIntent
from groundwire.chaos.worker import Brief
from groundwire.lifeline import watch_lifeline

_SPINS_AT_MOST_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or the end of the lifeline."""
    parser = argparse.ArgumentParser()
    parser.add_argument("stage")
    parser.add_argument("--consumer", required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--brief", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--release", type=int, default=1)
    asyncio.run(_run(parser.parse_args(arguments)))
    return 0


async def _run(options: argparse.Namespace) -> None:
    logs.configure("info", as_json=True)
    brief = Brief.read(options.brief)
    runs = os.open(options.runs, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def handle(message: Any) -> Value:
        query = query_of(message)
        os.write(runs, f"{query.query_id}\n".encode())
        await _act(query, options.stage)
        if isinstance(message, NewerIntent):
            message = message.intent
        done: Value = await noop.HANDLERS[options.stage](message)
        return NewerIntent(intent=done) if is_new and isinstance(done, Intent) else done

    is_new = options.release > 1
    stages = {**PRESENT, **NEWER} if is_new else {stage.name: stage for stage in TOPOLOGY.stages}
    worker = Worker(
        stages[options.stage],
        handle,
        configdigest=f"release {options.release}",
        backend=UrlBackend(brief.url),
        consumer=options.consumer,
        config=brief.config,
        log=logs.bus_log(),
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, worker.stop)
    watch_lifeline(options.lifeline, lambda: loop.call_soon_threadsafe(worker.stop))
    await worker.run()


async def _act(query: Query, stage: str) -> None:
    mark = mark_of(query)
    if mark is None or mark.stage != stage:
        return
    match mark.kind:
        case "slow":
            await asyncio.sleep(mark.ms / 1000)
        case "busy":
            _block(mark.ms / 1000)
        case _:
            os.kill(os.getpid(), signal.SIGKILL)


def _block(seconds: float) -> None:
    """Block the loop: first by spinning, so that a beat has to fight for the interpreter, then for free."""
    began = time.monotonic()
    while time.monotonic() - began < min(seconds, _SPINS_AT_MOST_S):
        pass
    time.sleep(max(0.0, seconds - _SPINS_AT_MOST_S))


def query_of(message: Any) -> Query:
    """The query inside a message of any stage."""
    if isinstance(message, Query):
        return message
    query: Query = (message if isinstance(message, Intent) else message.intent).query
    return query


if __name__ == "__main__":
    sys.exit(main())
