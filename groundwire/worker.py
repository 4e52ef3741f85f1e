"""One worker process: `python -m groundwire.worker STAGE`. Reads the settings, runs until told to stop."""

import argparse
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.owners import foreign_owner
from groundwire.threads import compute_on_one

if TYPE_CHECKING:
    from groundwire.settings import Settings
    from groundwire.signals import Signals
    from groundwire.wiring.workers import Built

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
    parser.add_argument("--variables", type=Path, help="a JSON file of variables")
    parser.add_argument("--lifeline", type=int, help="a pipe whose end of file means: stop")
    options = parser.parse_args(arguments)
    return run_worker(
        options.stage,
        consumer=options.consumer,
        concurrency=options.concurrency,
        variables=options.variables,
        lifeline=options.lifeline,
    )


def preload() -> None:
    """Import and open what workers need, in a process that will be forked into them."""
    from groundwire.settings import load_settings
    from groundwire.wiring.preloading import preload

    preload(load_settings(os.environ, Path.cwd()).profile)


def run_worker(
    stage: str,
    *,
    consumer: str | None = None,
    concurrency: int | None = None,
    variables: Path | None = None,
    lifeline: int | None = None,
) -> int:
    """Run one worker until SIGTERM, SIGINT or the end of the lifeline; a second signal leaves now.

    SIGHUP makes it read its settings again: from the environment, the files, and `variables`, a JSON object that
    wins over the environment.
    """
    from groundwire.lifeline import watch_lifeline

    if lifeline is not None:
        # Before the long imports: until its handler is there, SIGTERM ends a worker that has no work.
        watch_lifeline(lifeline, lambda: os.kill(os.getpid(), signal.SIGTERM))
    from groundwire.signals import Signals

    with Signals(_leave_now) as signals:
        return _run_by(stage, partial(_read, variables, concurrency), consumer, signals)


def _run_by(
    stage: str, read: "Callable[[], Settings]", consumer: str | None, signals: "Signals"
) -> int:
    from contracts import GroundwireError
    from groundwire import loop

    try:
        loop.run(_run(stage, read, consumer, signals))
    except GroundwireError as error:
        sys.stderr.write(f"groundwire worker {stage}: {error}\n")
        return 2
    return 0


def _read(variables: Path | None, concurrency: int | None) -> "Settings":
    """The settings as they are now."""
    from groundwire.settings import load_settings

    given = {} if variables is None else json.loads(variables.read_text())
    settings = load_settings(os.environ | given, Path.cwd())
    if concurrency is not None:
        settings = settings.model_copy(update={"concurrency": concurrency})
    return settings


async def _run(
    stage: str, read: "Callable[[], Settings]", consumer: str | None, signals: "Signals"
) -> None:
    from groundwire import logs, loop
    from groundwire.changes import change
    from groundwire.client import system_url
    from groundwire.crash import tell_crashes
    from groundwire.lives import Successor, live
    from groundwire.observing import observing
    from groundwire.supervisor import new_consumer_name, successor_name
    from groundwire.wiring import await_corpus, build_worker, following, place_of

    settings = read()
    place_of(stage)  # a stage that there isn't waits for no corpus
    logs.configure(settings.log_level, as_json=settings.log_json)
    tell_crashes(stage)
    log = logs.bus_log()
    signals.listen()
    url = await system_url(settings)
    with observing(stage, settings, log, os.environ) as observed:
        async with following(settings.corpus_url, settings.corpus, log):
            if not await await_corpus(settings.corpus, signals.stop, log):
                return
            build = partial(build_worker, stage, log=log, watch=observed.watch)
            name = consumer or new_consumer_name()
            numbers = itertools.count(1)

            async def begin() -> "Built":
                built = await build(settings, url=url, consumer=name)
                loop.settle_heap()
                return built

            async def succeed() -> Successor:
                new = read()
                changed = change(settings, new)
                url = await system_url(new)
                built = await build(new, url=url, consumer=successor_name(name, next(numbers)))
                return Successor(built, changed)

            # Only `live` holds the first one: it is gone once a successor has taken over.
            await live(await begin(), succeed, signals=signals, attend=observed.attend, log=log)


def _leave_now(number: int) -> None:
    from groundwire import logs

    logs.flush()
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
