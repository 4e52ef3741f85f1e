"""`groundwire health`: a yes or no for a container's health check."""

from typing import Annotated

import typer

from contracts import TOPOLOGY, Invalid

from .codes import ExitCode
from .context import console, run_async, running_bus

STAGES = ", ".join(stage.name for stage in TOPOLOGY.stages)
EPILOG = """Examples:

  groundwire health

  groundwire health retrieve

  docker run --health-cmd "groundwire health retrieve" … groundwire worker retrieve
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("health", epilog=EPILOG)(health)


def health(
    stage: Annotated[str | None, typer.Argument(help=f"One of {STAGES}; none: the whole.")] = None,
) -> int:
    """Check that a stage has a live worker; without one, that no stage has work and no worker.

    Exit code 0 if so, 1 if not, 3 without a server. The server of a lane that doesn't answer is
    named: the whole isn't well then; a stage is, if the other lanes know a live worker of it.
    """
    if stage is None:
        return run_async(_of_whole())
    if stage not in {known.name for known in TOPOLOGY.stages}:
        raise Invalid(f"no stage {stage!r}; there are: {STAGES}")
    return run_async(_of_stage(stage))


async def _of_whole() -> int:
    async with running_bus(opens_partly=True) as bus:
        found = await bus.status()
    unattended = [f"{name} has work and no worker" for name in found.unattended_stages]
    said = unattended or ["every stage with work has a worker"]
    for line in (*said, *map(str, found.unreachable)):
        console().print(line, markup=False, soft_wrap=True)
    return ExitCode.ANSWERED if found.is_well else ExitCode.FAILED


async def _of_stage(stage: str) -> int:
    async with running_bus(opens_partly=True) as bus:
        workers = await bus.live_workers(stage)
    for line in (f"{stage}: {workers.count} alive", *map(str, workers.unreachable)):
        console().print(line, markup=False, soft_wrap=True)
    return ExitCode.ANSWERED if workers.count else ExitCode.FAILED
