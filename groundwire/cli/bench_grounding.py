"""`groundwire bench grounding`: whether claims that don't quote are told from those that aren't borne out."""

from pathlib import Path
from typing import Annotated

import typer

from .codes import ExitCode
from .context import console, write_json

EPILOG = """Examples:

  groundwire bench grounding --data ../shared/data/begin/begin_test_wow.tsv

  groundwire bench grounding --data ../shared/data/clapnq --json
"""


def add_to(bench: typer.Typer) -> None:
    """Add the command to the group."""
    bench.command("grounding", epilog=EPILOG)(grounding)


def grounding(
    data: Annotated[
        Path, typer.Option(help="A file in BEGIN's layout, or CLAP NQ's folder for long evidence.")
    ],
    profile: Annotated[str, typer.Option(help="Whose weights and threshold are used.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Score each claim against its best one or two adjacent sentences of evidence."""
    from groundwire.evals import grounding as evals
    from groundwire.wiring import build_support, load_profile

    known = load_profile(profile)
    measured = evals.measure(evals.read(data), build_support(known), known.critic.threshold)
    found = evals.as_json(measured)
    if as_json:
        write_json(found)
    else:
        for figure, value in found.items():
            console().print(f"{figure:15} {value}", markup=False)
    return ExitCode.ANSWERED
