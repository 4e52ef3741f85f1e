"""`groundwire bench intents`: labels and scope on a set in CLINC150's layout."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .codes import ExitCode
from .context import console, data_folder, settings, write_json

EPILOG = """Examples:

  groundwire bench intents --data ../shared/data/clinc150 --set data_full

  groundwire bench intents --data ../shared/data --set clinc150 --json

  groundwire bench intents --data ../shared/data --set clinc150 --profile reference
"""


def add_to(bench: typer.Typer) -> None:
    """Add the command to the group."""
    bench.command("intents", epilog=EPILOG)(intents)


def intents(
    name: Annotated[str, typer.Option("--set", help="DATA/NAME.json, or the folder DATA/NAME.")],
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    split: Annotated[
        Literal["test", "val"], typer.Option(help="test, or val while choosing a method.")
    ] = "test",
    profile: Annotated[
        str, typer.Option(help="Whose classifier is used; reference: keywords.")
    ] = "default",
    cache: Annotated[Path | None, typer.Option(help="Where vectors and classifiers stay.")] = None,
    draw: Annotated[
        Path | None, typer.Option(help="Draw reliability and coverage into this SVG file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Learn from the training split, no foreign question among it; measure accuracy, scope, calibration and time.

    The time is that of the whole understand agent. Keywords, where a profile knows no others, are the most telling
    words of the training split.
    """
    from groundwire.evals import intents as evals
    from groundwire.models import Cached, open_embedder
    from groundwire.wiring import load_profile
    from groundwire.wiring.classifier import installed_embedders

    known = settings()
    folder, where = data_folder(data, known), cache or known.home / "cache"
    chosen = load_profile(profile)
    embedders = [open_embedder(one) for one in installed_embedders(chosen)]
    cached = [Cached(one, where / "vectors.sqlite") for one in embedders]
    judged = evals.judge(evals.read(folder, name), split, chosen, cached, where)
    if draw is not None:
        from groundwire.evals.pictures import reliability_and_coverage

        draw.write_text(reliability_and_coverage(judged), encoding="utf-8")
    found = evals.as_json(judged)
    if as_json:
        write_json(found)
    else:
        for figure, value in found.items():
            console().print(f"{figure:13} {value}")
    return ExitCode.ANSWERED
