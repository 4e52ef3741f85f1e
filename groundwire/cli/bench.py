"""`groundwire bench`: what this machine measures. Scale needs no data; quality reads published sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import bench_answers, bench_grounding, bench_injection, bench_intents, quality, scope
from .codes import ExitCode
from .context import console, write_json
from .progress import progress_bar

if TYPE_CHECKING:
    from groundwire.evals.scale import Scale

EPILOG = """Examples:

  groundwire bench scale

  groundwire bench scale --passages 10000 --passages 1000000 --vectors --json

  groundwire bench retrieval --data ../shared/data --set scifact

  groundwire bench scope --data ../shared/data
"""

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(
        bench,
        name="bench",
        help="Measure: scale, retrieval, chunks, intents, scope, answers, grounding, injection.",
        epilog=EPILOG,
    )


quality.add_to(bench)
scope.add_to(bench)
bench_intents.add_to(bench)
bench_answers.add_to(bench)
bench_grounding.add_to(bench)
bench_injection.add_to(bench)


@bench.command("scale", epilog=EPILOG)
def scale(
    passages: Annotated[
        list[int] | None, typer.Option(min=1, help="How many; give it again for more sizes.")
    ] = None,
    queries: Annotated[int, typer.Option(min=1, help="How many searches are timed.")] = 300,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Vectors too; as many as passages.")
    ] = False,
    scratch: Annotated[
        Path | None, typer.Option(help="Where indexes lie meanwhile; 0.6 KB a passage.")
    ] = None,
    draw: Annotated[Path | None, typer.Option(help="Draw the growth into this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Index synthetic passages on one thread and time searches in them, one after the other."""
    from tempfile import gettempdir

    from groundwire.evals.drawing import growth
    from groundwire.evals.scale import measure

    found = []
    with progress_bar() as show:
        for size in sorted(passages or [100_000]):
            folder = scratch or Path(gettempdir())
            found.append(measure(size, queries, folder, vectors=vectors, on_progress=show))
    if draw is not None:
        draw.write_text(growth(found), encoding="utf-8")
    if as_json:
        write_json(found)
    else:
        _show(found)
    return ExitCode.ANSWERED


def _show(found: "list[Scale]") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in (
        "passages",
        "indexed/s",
        "keyword p95 ms",
        "vector p95 ms",
        "recall@10",
        "hybrid p95 ms",
    ):
        table.add_column(column, justify="right")
    for one in found:
        table.add_row(
            f"{one.passages:,}",
            f"{one.keyword.passages_per_s:,.0f}",
            f"{one.keyword.search.p95_ms:.1f}",
            f"{one.vectors.search.p95_ms:.1f}" if one.vectors else "–",
            "exact" if one.vectors and one.recall is None else f"{one.recall or 0:.3f}",
            f"{one.hybrid.p95_ms:.1f}" if one.hybrid else "–",
        )
    console().print(table)
