"""`groundwire bench scope`: whether foreign questions are refused where no intents are configured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Misconfigured

from .codes import ExitCode
from .context import console, data_folder, settings, write_json

if TYPE_CHECKING:
    from groundwire.evals.scope import Gate, Share

EPILOG = """Examples:

  groundwire bench scope --data ../shared/data

  groundwire bench scope --data ../shared/data --gate fast --gate words --json
"""


def add_to(bench: typer.Typer) -> None:
    """Add the command to the group."""
    bench.command("scope", epilog=EPILOG)(scope)


def scope(
    data: Annotated[
        Path | None, typer.Option(help="The folder of the sets; default: GROUNDWIRE_DATA.")
    ] = None,
    gate: Annotated[
        list[str] | None, typer.Option(help="default, fast or words; all unless given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """What share of genuine questions is kept, and of CLINC150's out-of-scope ones refused.

    The corpus are Basecamp's policies, without intents.
    """
    from groundwire.evals import scope as evals

    from .quality import bars

    folder = data_folder(data, settings())
    chosen = gate or list(evals.GATES)
    if unknown := [name for name in chosen if name not in evals.GATES]:
        raise Misconfigured(f"no gate {unknown[0]!r}; there are: {', '.join(evals.GATES)}")
    with bars() as tell:
        found = evals.measure(folder, chosen, tell)
    if not found:
        raise Misconfigured("no gate could be measured: install groundwire[vectors]")
    if as_json:
        write_json(evals.as_json(found))
    else:
        _show(found)
    return ExitCode.ANSWERED


def _show(found: "list[Gate]") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("gate", "set on", "kept", "foreign refused", "built s", "p95 ms"):
        table.add_column(column, justify="left" if column in ("gate", "set on") else "right")
    for one in found:
        table.add_row(
            one.gate,
            one.calibrated_on,
            _share(one.kept),
            _share(one.refused),
            f"{one.built_s:.1f}",
            f"{one.p95_ms:.1f}",
        )
    console().print(table)


def _share(share: "Share") -> str:
    return f"{share.share:.3f} [{share.low:.3f}, {share.high:.3f}] of {share.n:,}"
