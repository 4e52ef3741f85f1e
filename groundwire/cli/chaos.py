"""`groundwire chaos`: the bus under attack, in a system of its own, and an account of every query."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Invalid

from .codes import ExitCode
from .context import console, console_err, run_async, settings, write_json

if TYPE_CHECKING:
    from groundwire.chaos.campaign import Campaign, Progress
    from groundwire.chaos.report import Report, Totals

EPILOG = """Examples:

  groundwire chaos

  groundwire chaos --seed 7 --faults kill,server-freeze

  groundwire chaos --seeds 1-20 --json > chaos.json

  groundwire chaos --minutes 10 --workers 3 --lanes 2

  groundwire chaos --cluster --faults primary-kill --minutes 5

  groundwire chaos --url redis://localhost:6379/9

  GROUNDWIRE_REDIS_TLS_CA=ca.pem groundwire chaos --url rediss://redis.test:6380/9
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("chaos", epilog=EPILOG)(chaos)


def chaos(
    seed: Annotated[int, typer.Option(help="The plan of faults: the same again each time.")] = 1,
    seeds: Annotated[
        str | None, typer.Option(help="Several, like 1-20, one after another.")
    ] = None,
    runs: Annotated[int, typer.Option(help="That many seeds, from --seed on.", min=1)] = 1,
    faults: Annotated[str | None, typer.Option(help="Only these, like kill,cut.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Name and explain the faults.")] = False,
    minutes: Annotated[
        float | None, typer.Option(help="Go on that long; else each fault comes once.", min=0.01)
    ] = None,
    queries: Annotated[int, typer.Option(help="Ask at least that many a seed.", min=1)] = 2_000,
    workers: Annotated[int, typer.Option(help="Workers of each stage.", min=1)] = 2,
    lanes: Annotated[
        int | None, typer.Option(help="Lanes of the bus: 1, or 4 on a cluster.", min=1)
    ] = None,
    cluster: Annotated[
        bool,
        typer.Option("--cluster", help="A cluster of its own: three primaries, a replica each."),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(
            help="A test server of yours, like redis://localhost:6379/9, in place of an own one; "
            "it must hold nothing of Groundwire, and is left as it was.",
        ),
    ] = None,
    test_server: Annotated[
        bool,
        typer.Option(
            "--test-server",
            help="The server at --url is for tests: attack it though it holds data of Groundwire; "
            "what the run adds stays there.",
        ),
    ] = False,
    patience: Annotated[
        float, typer.Option(help="Seconds without a result until what is open counts as lost.")
    ] = 20.0,
    logs: Annotated[Path | None, typer.Option(help="Keep the workers' logs here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Attack a system of its own and prove that no query is lost or answered twice.

    Server and workers run in a temporary folder and are gone afterwards; the agents do nothing.
    With --url the server is a test one of yours, and faults that would hurt all of it are left out;
    certificates for rediss:// are those that the settings name.
    With --cluster it is a cluster, whose primaries are killed and frozen and whose slots move; queries
    count as accepted once a replica has them.
    Exit code 1 if anything was lost, repeated, wrong or left behind, or if `verify` doesn't hold.
    """
    from groundwire.chaos.arena import Setup
    from groundwire.chaos.campaign import Campaign
    from groundwire.chaos.faults import faults_named
    from groundwire.chaos.site import Guest
    from groundwire.client import tls_of

    if list_them:
        return _list()
    if test_server and url is None:
        raise Invalid("--test-server says something about a server: which one, --url?")
    if cluster and url is not None:
        raise Invalid("--cluster starts one of its own: leave --url out, or --cluster")
    guest = None if url is None else Guest(url, is_for_tests=test_server, tls=tls_of(settings()))
    lanes = lanes or (4 if cluster else 1)
    setup = Setup(workers, lanes, guest, logs and logs.absolute(), clustered=cluster)
    chosen = faults_named(faults)
    if faults is None and guest is None:
        chosen = [fault for fault in chosen if fault.needs in setup.offers]
    campaign = Campaign(setup, chosen, minutes, queries, patience)
    if not campaign.faults:
        raise Invalid(
            "no fault is left: those chosen need a server of its own, so leave --url out; or a cluster: --cluster"
        )
    numbers = seeds_of(seeds) if seeds else range(seed, seed + runs)
    totals = run_async(_run(campaign, numbers, as_json=as_json))
    if as_json:
        write_json(totals.as_json() | {"left_out": campaign.left_out})
    else:
        _show_recoveries(totals)
        if campaign.left_out:
            console().print(
                f"left out, for they need another kind of server: {', '.join(campaign.left_out)}"
            )
    return ExitCode.ANSWERED if totals.holds else ExitCode.FAILED


def seeds_of(text: str) -> range:
    """`1-20` or `7` as seeds; Invalid for anything else."""
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()) or int(last or first) < int(first):
        raise Invalid(f"--seeds {text!r}: expected FIRST-LAST, like 1-20")
    return range(int(first), int(last or first) + 1)


async def _run(campaign: "Campaign", seeds: range, *, as_json: bool) -> "Totals":
    import logging

    from groundwire.chaos.campaign import run_seed
    from groundwire.chaos.report import Totals

    # Deaths are what is meant to happen here; the report says what came of them.
    logging.getLogger("groundwire").addHandler(logging.NullHandler())
    reports: list[Report] = []
    with console_err().status("starting a system") as status:

        def show(progress: "Progress") -> None:
            status.update(
                f"seed {progress.seed}: accepted {progress.accepted}, results {progress.results}, "
                f"open {progress.open}, fault {progress.fault}"
            )

        for number, seed in enumerate(seeds):
            report = await run_seed(campaign, seed, show)
            reports.append(report)
            if not as_json:
                _show_report(report, heading=number == 0)
    return Totals(tuple(reports))


def _list() -> int:
    from rich.table import Table

    from groundwire.chaos.faults import FAULTS

    table = Table(box=None, pad_edge=False, show_header=False)
    for fault in FAULTS.values():
        table.add_row(fault.name, fault.what)
    console().print(table)
    return ExitCode.ANSWERED


_ROW = "{:>5} {:>6} {:>8} {:>7} {:>8} {:>4} {:>10} {:>5} {:>6} {:>6} {:>7}"
_NAMED = 20
_HEADING = _ROW.format(
    *("seed", "faults", "accepted", "results", "refusals", "lost", "duplicates", "wrong"),
    *("leaked", "verify", "seconds"),
)


def _show_report(report: "Report", *, heading: bool) -> None:
    out = console()
    found = report.account
    if heading:
        out.print(_HEADING, style="bold")
    wrong = len(found.unasked) + len(found.misjudged)
    verdict = "exact" if report.verified else "BROKEN"
    row = _ROW.format(
        *(report.seed, len(report.faults), found.accepted, found.results, report.refusals),
        *(len(found.lost), len(found.duplicates), wrong, len(report.leaked), verdict),
        f"{report.seconds:.0f}",
    )
    out.print(row, style="" if report.holds else "red")
    if not report.holds:
        for query_id, what in list(report.wrong.items())[:_NAMED]:
            out.print(f"      {query_id} {what}", style="red", soft_wrap=True)
        for key in report.leaked[:_NAMED]:
            out.print(f"      {key} is left", style="red", soft_wrap=True)
        if not report.verified:
            out.print(f"      the bus counts {report.counts}", style="red")
            for lane in report.verification:
                out.print(f"      {lane}", style="red")


def _show_recoveries(totals: "Totals") -> None:
    from rich.table import Table

    from groundwire.chaos.report import recovery_s

    table = Table(box=None, pad_edge=False, title="recovery, seconds", title_justify="left")
    table.add_column("fault")
    for column in ("times", "alone", "median", "p95", "max", "first result"):
        table.add_column(column, justify="right")
    for fault, numbers in recovery_s(totals.recoveries).items():
        table.add_row(fault, *("-" if value is None else str(value) for value in numbers.values()))
    out = console()
    out.print()
    out.print(table)
    out.print("[green]nothing lost[/green]" if totals.holds else "[red]see above[/red]")
