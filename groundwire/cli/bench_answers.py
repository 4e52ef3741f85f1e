"""`groundwire bench answers`: which sentences are quoted, and what is refused, on published sets and on our cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .codes import ExitCode
from .context import console, data_folder, run_async, settings, write_json
from .quality import bars

if TYPE_CHECKING:
    from groundwire.evals.retrieval import Progress
    from groundwire.profiles import Profile

SETS = ("clapnq", "squad2", "course", "cases", "examples", "compound")
EPILOG = """Examples:

  groundwire bench answers --data ../shared/data

  groundwire bench answers --data ../shared/data --set clapnq --json
"""


def add_to(bench: typer.Typer) -> None:
    """Add the command to the group."""
    bench.command("answers", epilog=EPILOG)(answers)


def answers(
    names: Annotated[
        list[str] | None, typer.Option("--set", help=f"{', '.join(SETS)}; default: all of them.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    profile: Annotated[str, typer.Option(help="Whose answers are measured.")] = "default",
    examples: Annotated[Path, typer.Option(help="Our examples.")] = Path("examples"),
    cache: Annotated[Path | None, typer.Option(help="Where vectors are kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """CLAP NQ and SQuAD 2.0 cross-validated within each; the course, our cases and examples, and questions
    that ask two things, as they ship."""
    from groundwire.wiring import load_profile

    known = settings()
    folder, where = data_folder(data, known), cache or known.home / "cache"
    chosen = load_profile(profile)
    found = {}
    with bars() as progress:
        for name in names or SETS:
            found[name] = run_async(_measure(name, chosen, folder, examples, where, progress))
    if as_json:
        write_json({"profile": chosen.name, **found})
        return ExitCode.ANSWERED
    for name, figures in found.items():
        console().print(name)
        _show(figures, "  ")
    return ExitCode.ANSWERED


async def _measure(
    name: str, profile: "Profile", data: Path, examples: Path, cache: Path, progress: "Progress"
) -> dict[str, Any]:
    from groundwire.evals import answersets, compounds
    from groundwire.evals.answers import measure
    from groundwire.evals.cases import measure_cases, measure_course, measure_examples

    match name:
        case "course":
            return await measure_course(profile, data / "seed")
        case "cases":
            return await measure_cases(profile, examples)
        case "examples":
            return await measure_examples(profile, examples)
        case "compound":
            return await compounds.measure(profile, data, examples, cache, progress)
        case _:
            return await measure(profile, answersets.read(data, name), cache, progress)


def _show(figures: dict[str, Any], indent: str) -> None:
    for figure, value in figures.items():
        if isinstance(value, dict):
            console().print(f"{indent}{figure}")
            _show(value, f"{indent}  ")
        else:
            console().print(f"{indent}{figure:18} {value}", markup=False)
