"""`groundwire status`: what is running, waiting and done; once, live, or for probes and Prometheus."""

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import GroundwireError, Invalid, Unreachable

from .codes import ExitCode
from .context import console, console_err, run_async, running_bus, settings, write_json

if TYPE_CHECKING:
    from bus import Bus, SystemStatus
    from groundwire.whole import Whole

EPILOG = """Examples:

  groundwire status

  groundwire status --watch

  groundwire status --serve 9400      # /readyz and /metrics of the whole

  groundwire status --json | jq .open
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status", epilog=EPILOG)(status)


def status(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Live, with rates, until Ctrl-C; needs a terminal.")
    ] = False,
    serve: Annotated[
        int | None,
        typer.Option(
            help="Answer /livez, /readyz and /metrics of the whole on this port, until Ctrl-C.",
            min=1,
            max=65535,
        ),
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.1)] = 1.0,
) -> int:
    """Per stage: workers, backlog, pending, oldest; per outcome: count.

    Exit code 1 if a stage has work and no live worker, or the server of a lane doesn't answer:
    then the numbers are those of the other lanes.
    """
    if sum((as_json, watch, serve is not None)) > 1:
        raise Invalid("choose one of --json, --watch and --serve")
    if serve is not None:
        return run_async(_serve(serve, every))
    if watch:
        if not sys.stdout.isatty():
            raise Invalid("--watch draws on a terminal; for programs there is --json")
        return run_async(_watch(every))
    return run_async(_once(as_json=as_json))


async def _once(*, as_json: bool) -> int:
    from .live import drawn

    async with running_bus(opens_partly=True) as bus:
        found = await bus.status()
    if as_json:
        write_json(found)
    else:
        console().print(drawn(found))
    return ExitCode.ANSWERED if found.is_well else ExitCode.FAILED


async def _watch(every_s: float) -> int:
    from rich.live import Live
    from rich.text import Text

    from .live import drawn

    before: tuple[float, SystemStatus] | None = None
    async with running_bus(opens_partly=True) as bus:
        with Live(console=console(), auto_refresh=False, screen=True) as live:
            while True:
                found = await _asked(bus)
                now = time.monotonic()
                if isinstance(found, str):
                    live.update(Text(f"no answer from the server: {found}", style="red"))
                    before = None
                else:
                    since = (None, 0.0) if before is None else (before[1], now - before[0])
                    live.update(drawn(found, *since))
                    before = now, found
                live.refresh()
                await asyncio.sleep(every_s)


async def _serve(port: int, every_s: float) -> int:
    """Whatever the server says or doesn't, also at the start: somebody must be there to tell."""
    from groundwire.health import Answers, listening
    from groundwire.whole import Whole

    whole = Whole()
    host = settings().health_host
    answers = Answers(live=list, ready=whole.ready, metrics=whole.text)
    with listening(host, port, answers) as taken:
        console_err().print(f"http://{host}:{taken}/readyz, /metrics", markup=False)
        while True:
            try:
                async with running_bus(opens_partly=True) as bus:
                    await _look(bus, whole, every_s)
            except GroundwireError as error:
                whole.miss(str(error))
            await asyncio.sleep(every_s)


async def _look(bus: "Bus", whole: "Whole", every_s: float) -> None:
    while True:
        found = await _asked(bus)
        if isinstance(found, str):
            whole.miss(found)
        else:
            whole.see(found)
        await asyncio.sleep(every_s)


async def _asked(bus: "Bus") -> "SystemStatus | str":
    """The status, or why the server doesn't say."""
    try:
        return await bus.status()
    except Unreachable as error:
        return str(error)
