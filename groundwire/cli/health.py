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

    Exit code 0 if so, 1 if not, 3 without a server.
    """
    if stage is None:
        unattended = run_async(_unattended())
        for name in unattended:
            console().print(f"{name} has work and no worker", markup=False)
        if not unattended:
            console().print("every stage with work has a worker", markup=False)
        return ExitCode.FAILED if unattended else ExitCode.ANSWERED
    if stage not in {known.name for known in TOPOLOGY.stages}:
        raise Invalid(f"no stage {stage!r}; there are: {STAGES}")
    workers = run_async(_workers(stage))
    console().print(f"{stage}: {workers} alive", markup=False)
    return ExitCode.ANSWERED if workers else ExitCode.FAILED


async def _workers(stage: str) -> int:
    async with running_bus() as bus:
        return await bus.live_workers(stage)


async def _unattended() -> tuple[str, ...]:
    async with running_bus() as bus:
        return (await bus.status()).unattended_stages
