"""`groundwire worker`: one worker of one stage in the foreground."""

from typing import Annotated

import typer

from contracts import TOPOLOGY

STAGES = ", ".join(stage.name for stage in TOPOLOGY.stages)
EPILOG = """Examples:

  groundwire worker retrieve

  GROUNDWIRE_REDIS_URL=redis://localhost:6379/0 groundwire worker critic --concurrency 4
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker", epilog=EPILOG)(worker)


def worker(
    stage: Annotated[str, typer.Argument(help=f"One of {STAGES}.")],
    concurrency: Annotated[
        int | None, typer.Option(help="Deliveries handled at a time.", min=1)
    ] = None,
) -> int:
    """Run one worker until Ctrl-C or SIGTERM: it finishes what runs and gives back the rest.

    SIGHUP makes it go over to the settings and the profile as they are then, without a break.

    Start as many as you like, on any machine that reaches the server and the corpus.
    """
    from groundwire.worker import run_worker

    return run_worker(stage, concurrency=concurrency)
