"""`groundwire bench injection`: whether instructions planted in documents change an answer or pass for one."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .codes import ExitCode
from .context import console, data_folder, run_async, settings, write_json

EPILOG = """Examples:

  groundwire bench injection --data ../shared/data

  groundwire bench injection --data ../shared/data --rounds 20 --json
"""


def add_to(bench: typer.Typer) -> None:
    """Add the command to the group."""
    bench.command("injection", epilog=EPILOG)(injection)


def injection(
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    split: Annotated[
        Literal["test", "train"], typer.Option(help="test, or train while choosing rules.")
    ] = "test",
    profile: Annotated[str, typer.Option(help="Which profile answers.")] = "default",
    rounds: Annotated[int, typer.Option(min=1, help="How often attacks are planted anew.")] = 8,
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON, every touched answer too.")
    ] = False,
) -> int:
    """Plant BIPIA's text attacks in Basecamp's policies and ask 253 questions of them."""
    from groundwire.evals import injection as evals
    from groundwire.wiring import load_profile

    from .quality import bars

    folder = data_folder(data, settings())
    with bars() as tell:
        found = run_async(evals.measure(folder, split, load_profile(profile), rounds, tell))
    if as_json:
        write_json(evals.as_json(found))
        return ExitCode.ANSWERED
    for name, value in evals.as_json(found).items():
        if name != "hits":
            console().print(f"{name:24} {value}", markup=False)
    return ExitCode.ANSWERED
