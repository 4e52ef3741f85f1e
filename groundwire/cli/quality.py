"""`groundwire bench retrieval` and `chunks`: quality on published collections that lie in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Misconfigured

from .codes import ExitCode
from .context import console, console_err, data_folder, run_async, settings, write_json

if TYPE_CHECKING:
    from groundwire.evals.collection import Collection
    from groundwire.evals.metrics import Interval
    from groundwire.evals.retrieval import Measured, Progress

EPILOG = """Examples:

  groundwire bench retrieval --data ../shared/data --set scifact

  groundwire bench chunks --data ../shared/data

  groundwire bench retrieval --data ./mine --set faq --json > faq.json
"""


def add_to(bench: typer.Typer) -> None:
    """Add the commands to the group."""
    bench.command("retrieval", epilog=EPILOG)(retrieval)
    bench.command("chunks", epilog=EPILOG)(chunks)


def retrieval(
    name: Annotated[
        str,
        typer.Option("--set", help="scifact, cranfield, clapnq, squad2, or a folder as BEIR has."),
    ],
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="Profiles to measure; default: default.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Where vectors are kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """How well the right passage is found: profiles beside the course and plain BM25.

    Vectors are kept in the cache, so that a second run is fast.
    """
    from groundwire.evals import retrieval as evals
    from groundwire.evals.sets import read_set

    known = settings()
    folder = data_folder(data, known)
    collection = read_set(folder, name)
    measured = []
    with bars() as progress:
        for system in evals.systems(profile or ["default"]):
            if packages := evals.lacking(system):
                console_err().print(f"{system.name}: left out, needs {', '.join(packages)}")
                continue
            where = cache or known.home / "cache"
            work = evals.measure(system, collection, cache=where, progress=progress)
            measured.append(run_async(work))
    if as_json:
        write_json(evals.as_json(collection, measured))
    else:
        _show(collection, measured, evals.TRAINED_ON)
        _show_gains(evals.gains(measured))
    return ExitCode.ANSWERED


def chunks(
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="Profiles to measure; default: default.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Where vectors are kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """How much of the answer is in 5 passages of at most 400 characters, on the set `chunking`."""
    from groundwire.evals import retrieval as evals
    from groundwire.evals import spans
    from groundwire.evals.chunks import measure_chunks, windowed
    from groundwire.evals.collection import Collection, Unreadable

    known = settings()
    folder = data_folder(data, known)
    try:
        collection = spans.read(folder / "chunking")
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    chosen = profile or ["default"]
    compared = evals.systems(chosen)
    measured = []
    with bars() as progress:
        windows = [windowed(one) for one in compared if one.name in chosen]
        for system in [*windows, *compared]:
            where = cache or known.home / "cache"
            measured.append(
                run_async(measure_chunks(system, collection, cache=where, progress=progress))
            )
    named = Collection("chunking", (), (), skipped=collection.skipped)
    if as_json:
        write_json(evals.as_json(named, measured))
    else:
        _show(named, measured, evals.TRAINED_ON)
        _show_gains(evals.gains(measured))
    return ExitCode.ANSWERED


@contextmanager
def bars() -> Iterator["Progress"]:
    """A bar for each step, on standard error; nothing where that isn't a terminal."""
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    tasks: dict[str, TaskID] = {}
    with Bars(console=console_err(), transient=True) as bars:

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield show


def _show_gains(gains: "dict[str, dict[str, Interval]]") -> None:
    for name, ahead in gains.items():
        told = ", ".join(
            f"{measure} {one.mean:+.4f} [{one.low:+.4f}, {one.high:+.4f}]"
            for measure, one in ahead.items()
        )
        console().print(f"{name} ahead of its fusion alone: {told}", markup=False)


def _show(collection: "Collection", measured: "list[Measured]", note: str) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(collection.name)
    for name in measured[0].measures if measured else ():
        table.add_column(name, justify="right")
    for one in measured:
        cells = (
            f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"
            for found in one.measures.values()
        )
        table.add_row(one.system, *cells)
    out = console()
    out.print(table)
    for skipped in collection.skipped:
        out.print(f"skipped {skipped.what}: {skipped.reason}", style="dim", markup=False)
    out.print(note, style="dim", markup=False)
