"""`groundwire up`: everything on this machine, until Ctrl-C."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import GroundwireError, Query, outcome_of

from .aside import show_aside
from .codes import OF_OUTCOME, ExitCode
from .context import console, console_err, run_async, settings, traced

if TYPE_CHECKING:
    from groundwire.settings import Settings
    from groundwire.signals import Signals
    from groundwire.system import System

EPILOG = """Examples:

  groundwire up --docs examples/handbook

  groundwire up --docs handbook --workers retrieve=2,critic=2

  kill -HUP "$(jq .pid .groundwire/system.json)"      # settings and profile are others now

  groundwire up --docs handbook --ask "How do I cancel?"
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up", epilog=EPILOG)(up)


def up(
    docs: Annotated[Path | None, typer.Option(help="Documents to ingest first.")] = None,
    workers: Annotated[
        str | None, typer.Option(help="How many workers of a stage, like understand=1,retrieve=2.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Configuration of the agents.")] = None,
    intents: Annotated[
        Path | None, typer.Option(help="An intents.toml instead of the one beside the documents.")
    ] = None,
    ask: Annotated[str | None, typer.Option(help="Ask this once everything is up.")] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Stop again after --ask, with its exit code.")
    ] = False,
) -> int:
    """Start the server, the five agents (a process each) and keep them running until Ctrl-C.

    A worker that dies is restarted. A second `up` in the same folder shares the first one's system. SIGHUP has
    all workers go over to the settings and the profile as they are then, without a break.
    """
    from groundwire import logs

    read = partial(settings, profile=profile, intents=intents)
    chosen = read()
    logs.configure(chosen.log_level, as_json=chosen.log_json)
    with traced(chosen):
        return run_async(_up(chosen, read, docs, workers, ask, once=once))


async def _up(
    chosen: "Settings",
    read: "Callable[[], Settings]",
    docs: Path | None,
    workers: str | None,
    question: str | None,
    *,
    once: bool,
) -> int:
    from groundwire.signals import Signals
    from groundwire.system import AlreadyUp, running_system, worker_counts

    counts = worker_counts(workers)
    err = console_err()
    code = int(ExitCode.ANSWERED)
    try:
        with Signals(_cut_short()) as signals, err.status("starting") as status:
            signals.may_drain = False  # until all is up
            signals.listen()
            starting = running_system(chosen, docs=docs, counts=counts, on_step=status.update)
            async with starting as system:
                status.stop()
                signals.may_drain = True
                _show_system(system)
                if question is not None:
                    code = await _ask_once(system, question)
                if not once:
                    hint = 'ask from another terminal: groundwire ask "…"; Ctrl-C stops it'
                    err.print(f"[dim]up; {hint}[/dim]")
                    await _until_stopped(signals, system, read)
                    err.print("[dim]draining the workers, then the server[/dim]")
        if not once:
            err.print(f"[dim]stopped; the data stays in {chosen.home}[/dim]", soft_wrap=True)
    except AlreadyUp:
        return await _share(chosen)
    return code


def _cut_short() -> "Callable[[int], None]":
    main = asyncio.current_task()
    assert main is not None

    def cut_short(_: int) -> None:
        main.cancel()

    return cut_short


async def _until_stopped(
    signals: "Signals", system: "System", read: "Callable[[], Settings]"
) -> None:
    """Return when told to stop; at each SIGHUP have the workers go over to the settings as they are then."""
    from groundwire import logs

    log = logs.bus_log()
    running = asyncio.create_task(system.supervisor.wait())
    while await signals.next(running):
        try:
            changed = system.adopt(read())
        except (GroundwireError, OSError) as error:
            log("settings.refused", error=f"the old ones hold: {error}"[:500])
        else:
            log("settings.changed", changed=list(changed))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    if not running.cancelled():
        running.result()


async def _ask_once(system: "System", question: str) -> int:
    from .show import response_text

    query_id = await system.bus.submit(Query(text=question, session_id="up"))
    response = await system.bus.result(query_id)
    out = console()
    out.print(f"\n[bold]?[/bold] {question}", markup=True)
    out.print(response_text(response) + "\n")
    return OF_OUTCOME[outcome_of(response.status)]


async def _share(chosen: "Settings") -> int:
    """Another process has the system of this home: say so, once it is ready."""
    from groundwire.embedded import find_system

    running = await find_system(chosen.home)
    if running is None:
        console_err().print("the system of this folder just stopped; try again")
        return ExitCode.NO_SYSTEM
    console_err().print(
        f"already up in {chosen.home} (process {running.state.pid}): sharing it", markup=False
    )
    return ExitCode.ANSWERED


def _show_system(system: "System") -> None:
    from rich.table import Table

    from groundwire.settings import redact_url

    out = console()
    if system.ingestion is not None:
        done = system.ingestion
        out.print(f"corpus   {done.documents} documents, {done.passages} passages ({done.version})")
        for problem in done.problems:
            console_err().print(f"left out {problem.source}: {problem.reason}", markup=False)
        show_aside(done.aside)
    out.print(f"server   {redact_url(system.url)}", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("stage", "process", "consumer"):
        table.add_column(column)
    for worker in system.supervisor.workers():
        table.add_row(worker.stage, str(worker.pid), worker.consumer)
    out.print(table)
