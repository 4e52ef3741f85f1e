"""`groundwire status`: what is running, waiting and done."""

from typing import Annotated

import typer

from .codes import ExitCode
from .context import console, run_async, running_bus, write_json

EPILOG = """Examples:

  groundwire status

  groundwire status --json | jq .open
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status", epilog=EPILOG)(status)


def status(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """Per stage: workers, backlog, pending, oldest; per outcome: count.

    Exit code 1 if a stage has work and no live worker.
    """
    return run_async(_status(as_json=as_json))


async def _status(*, as_json: bool) -> int:
    from rich.table import Table

    from .show import age

    async with running_bus() as bus:
        found = await bus.status()
    stuck = [one for one in found.stages if not one.workers and (one.backlog or one.pending)]
    code = ExitCode.FAILED if stuck else ExitCode.ANSWERED
    if as_json:
        write_json(found)
        return code
    table = Table(box=None, pad_edge=False)
    for column in ("stage", "workers", "backlog", "pending", "delayed", "oldest"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for one in found.stages:
        workers = str(one.workers) if one.workers else "[red]0[/red]"
        numbers = (str(one.backlog), str(one.pending), str(one.delayed), age(one.oldest_ms))
        table.add_row(one.stage, workers, *numbers)
    out = console()
    out.print(table)
    counts = "  ".join(f"{name} {count}" for name, count in found.outcomes.items())
    out.print(
        f"\naccepted {found.accepted}  open {found.open}  {counts}  dead letters {found.dead}"
    )
    for one in stuck:
        out.print(f"[red]{one.stage} has work and no worker: groundwire worker {one.stage}[/red]")
    return code
