"""One worker process: `python -m groundwire.worker STAGE`. Reads the settings, runs until told to stop."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.owners import foreign_owner
from groundwire.threads import compute_on_one

if TYPE_CHECKING:
    from groundwire.settings import Settings

STRANGER_EXIT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one worker in the foreground; the exit code."""
    stranger = foreign_owner()
    if stranger is not None:
        sys.stderr.write(f"groundwire: {stranger}\n")
        return STRANGER_EXIT
    compute_on_one()
    parser = argparse.ArgumentParser(prog="python -m groundwire.worker")
    parser.add_argument("stage")
    parser.add_argument("--consumer")
    parser.add_argument("--concurrency", type=int)
    parser.add_argument("--lifeline", type=int, help="a pipe whose end of file means: stop")
    options = parser.parse_args(arguments)
    return run_worker(
        options.stage,
        consumer=options.consumer,
        concurrency=options.concurrency,
        lifeline=options.lifeline,
    )


def run_worker(
    stage: str,
    *,
    consumer: str | None = None,
    concurrency: int | None = None,
    lifeline: int | None = None,
) -> int:
    """Run one worker until SIGTERM, SIGINT or the end of the lifeline; a second signal leaves now."""
    from groundwire.lifeline import watch_lifeline

    if lifeline is not None:
        # Before the long imports: until its handler is there, SIGTERM ends a worker that has no work.
        watch_lifeline(lifeline, lambda: os.kill(os.getpid(), signal.SIGTERM))
    from contracts import GroundwireError
    from groundwire import loop
    from groundwire.settings import load_settings

    try:
        settings = load_settings(os.environ, Path.cwd())
        if concurrency is not None:
            settings = settings.model_copy(update={"concurrency": concurrency})
        loop.run(_run(stage, settings, consumer))
    except GroundwireError as error:
        sys.stderr.write(f"groundwire worker {stage}: {error}\n")
        return 2
    return 0


async def _run(stage: str, settings: "Settings", consumer: str | None) -> None:
    from groundwire import logs, loop
    from groundwire.client import system_url
    from groundwire.observing import observing
    from groundwire.supervisor import new_consumer_name
    from groundwire.wiring import await_corpus, build_worker, following, keeping_warm, place_of

    place_of(stage)  # a stage that there isn't waits for no corpus
    logs.configure(settings.log_level, as_json=settings.log_json)
    log = logs.bus_log()
    running_loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        running_loop.add_signal_handler(number, _stop_or_leave, stop, number)
    url = await system_url(settings)
    with observing(stage, settings, log) as observed:
        async with following(settings.corpus_url, settings.corpus, log):
            if not await await_corpus(settings.corpus, stop, log):
                return
            built = await build_worker(
                stage,
                settings,
                url=url,
                consumer=consumer or new_consumer_name(),
                log=log,
                watch=observed.watch,
            )
            observed.attend(built.worker)
            loop.settle_heap()
            async with (
                keeping_warm(built.handler, built.corpus, log),
                asyncio.TaskGroup() as group,
            ):
                running = group.create_task(built.worker.run())
                stopping = group.create_task(stop.wait())
                await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
                built.worker.stop()
                stopping.cancel()


def _stop_or_leave(stop: asyncio.Event, number: int) -> None:
    if stop.is_set():
        from groundwire import logs

        logs.flush()
        os._exit(128 + number)
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
