"""`groundwire verify`: the conservation law of the bus, proved."""

from typing import Annotated

import typer

from .codes import ExitCode
from .context import console, run_async, running_bus, write_json

EPILOG = """Examples:

  groundwire verify

  groundwire verify --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """Check that every accepted query is open or has exactly one result, and lies in one place.

    Both sides are read in one step, so this may run at any time, under any load. Exit code 1 if
    the law is broken.
    """
    return run_async(_verify(as_json=as_json))


async def _verify(*, as_json: bool) -> int:
    async with running_bus() as bus:
        lanes = await bus.verify()
    holds = all(lane.holds for lane in lanes)
    if as_json:
        write_json({"holds": holds, "lanes": lanes})
    else:
        out = console()
        for lane in lanes:
            results = " + ".join(f"{name} {count}" for name, count in lane.outcomes.items())
            out.print(
                f"lane {lane.lane}: accepted {lane.accepted} + replayed {lane.replayed} "
                f"{'=' if lane.queries_balance else '≠'} {results} + open {lane.open}"
            )
            out.print(
                f"        open {lane.open} {'=' if lane.entries_balance else '≠'} "
                f"in streams {lane.working} + delayed {lane.delayed} + parked {lane.parked} "
                f"− bare {lane.bare}"
            )
        out.print("[green]verified[/green]" if holds else "[red]broken: please report this[/red]")
    return ExitCode.ANSWERED if holds else ExitCode.FAILED
