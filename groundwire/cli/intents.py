"""`groundwire intents`: what an intents file says, how a question is read by it, which labels overlap."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .codes import ExitCode
from .context import console, run_async, settings, write, write_json

if TYPE_CHECKING:
    from groundwire.wiring.inspection import Check, Inspector, Shown

EPILOG = """Examples:

  groundwire intents check examples/handbook

  groundwire intents test "how much is the yearly plan?" --intents examples/handbook

  groundwire intents confusions --json

  groundwire intents schema > intents.schema.json
"""
SHOWN_SCORES = 5

intents = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Source = Annotated[
    Path | None,
    typer.Option(
        "--intents", help="A file or its folder; default: the corpus's, else the shipped."
    ),
]
ProfileName = Annotated[str | None, typer.Option("--profile", help="Whose classifier is used.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(
        intents, name="intents", help="Check intents.toml, and how it reads.", epilog=EPILOG
    )


@intents.command("check", epilog=EPILOG)
def check(
    path: Annotated[
        Path | None, typer.Argument(help="A file or its folder; default: the corpus's.")
    ] = None,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> int:
    """Validate the file, train its classifier, print the scope threshold and what to expect of it."""
    found = _inspector(path, profile).check()
    if as_json:
        write_json(found)
    else:
        _show_check(found)
    return ExitCode.ANSWERED


@intents.command("test", epilog=EPILOG)
def try_question(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    source: Source = None,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> int:
    """Read a question as `understand` does: scores, the winner and why. Nothing is published."""
    from contracts import Invalid
    from contracts.query import MAX_TEXT_CHARS

    if len(question) > MAX_TEXT_CHARS:
        raise Invalid(f"the question has more than {MAX_TEXT_CHARS:,} characters")
    shown = run_async(_inspector(source, profile).test(question))
    if as_json:
        write_json(shown)
    else:
        _show_question(shown)
    return ExitCode.OUT_OF_SCOPE if shown.outcome == "out_of_scope" else ExitCode.ANSWERED


@intents.command("confusions", epilog=EPILOG)
def confusions(
    source: Source = None,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> int:
    """Name the labels that overlap: examples taken for another's when held out, keywords in common."""
    from rich.table import Table

    found = _inspector(source, profile).confusions()
    if as_json:
        write_json(found)
        return ExitCode.ANSWERED
    table = Table(box=None, pad_edge=False)
    for column in ("label", "taken for", "times", "keywords in common"):
        table.add_column(column)
    for one in found:
        table.add_row(one.label, one.other, str(one.mistaken), ", ".join(one.shared))
    console().print(table if found else "No labels overlap.")
    return ExitCode.ANSWERED


@intents.command("schema", epilog=EPILOG)
def schema() -> int:
    """Print the JSON schema of intents.toml."""
    from groundwire.intents import schema as of_file

    write_json(of_file())
    return ExitCode.ANSWERED


def _inspector(source: Path | None, profile: str | None) -> "Inspector":
    from groundwire.wiring.assembly import corpus_intents
    from groundwire.wiring.inspection import Inspector

    known = settings(profile=profile)
    given = source or known.intents or corpus_intents(known.corpus)
    kept = known.corpus if known.corpus.is_dir() else None
    return Inspector(known.profile, given, kept)


def _show_check(found: "Check") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("label", "keywords", "examples", "description"):
        table.add_column(column)
    for label in found.labels:
        table.add_row(label.label, str(label.keywords), str(label.examples), label.description)
    out = console()
    out.print(table)
    for name, values in found.entities.items():
        out.print(f"entity {name}: {', '.join(values)}", markup=False)
    if found.patterns:
        out.print(f"patterns: {', '.join(found.patterns)}", markup=False)
    write(f"{found.source} is valid; classifier {found.classifier}")
    write(f"scope: {found.scope}")
    for note in found.notes:
        write(f"note: {note}")


def _show_question(shown: "Shown") -> None:
    reason = f" ({shown.reason})" if shown.reason else ""
    write(f"{shown.outcome}{reason}: {shown.winner or 'no label'}, {shown.confidence:.2f}")
    if shown.margin is not None:
        side = "over" if shown.margin >= 0 else "under"
        write(f"  {abs(shown.margin):.2f} {side} the scope threshold")
    for label, score in list(shown.scores.items())[:SHOWN_SCORES]:
        write(f"  {score:.3f}  {label}")
    if shown.tied:
        write(f"  a tie with {', '.join(shown.tied)}: the first listed wins")
    for reason in shown.why:
        write(f"  {reason}")
    for name, value in shown.entities:
        write(f"  entity {name} = {value}")
    for part in shown.sub_questions:
        write(f"  asks: {part}")
    for option in shown.options:
        write(f"  asks back: {option}?")
    if shown.cleaned != shown.question:
        write(f"  read as: {shown.cleaned}")
