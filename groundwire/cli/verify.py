"""`groundwire verify`: the conservation law of the bus, proved."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .codes import ExitCode
from .context import console, name_unreachable, run_async, running_bus, write_json

if TYPE_CHECKING:
    from bus import Proof

EPILOG = """Examples:

  groundwire verify

  groundwire verify --json
"""

CODES: Mapping[str, ExitCode] = {
    "holds": ExitCode.ANSWERED,
    "broken": ExitCode.FAILED,
    "unverified": ExitCode.NO_SYSTEM,
}
WORDS: Mapping[str, str] = {
    "holds": "[green]verified[/green]",
    "broken": "[red]broken: please report this[/red]",
    "unverified": "[red]not verified: not every lane could be read[/red]",
}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """Check that every accepted query is open or has exactly one result, and lies in one place.

    Both sides are read in one step, so this may run at any time, under any load. Exit code 1 if
    the law is broken in a lane; 3 if it isn't, as far as can be read, but the server of a lane
    doesn't answer: then nothing is proved of that one.
    """
    return run_async(_verify(as_json=as_json))


async def _verify(*, as_json: bool) -> int:
    async with running_bus(opens_partly=True) as bus:
        proof = await bus.prove()
    verdict = proof.verdict
    if as_json:
        holds = verdict == "holds"
        write_json({"verdict": verdict, "holds": holds, **asdict(proof)})
    else:
        _print(proof)
    return CODES[verdict]


def _print(proof: "Proof") -> None:
    out = console()
    for lane in proof.lanes:
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
    name_unreachable(proof.unreachable, out)
    out.print(WORDS[proof.verdict])
