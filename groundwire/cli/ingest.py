"""`groundwire ingest`: documents become the corpus that answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Invalid

from .codes import ExitCode
from .context import console, console_err, settings, write_json

if TYPE_CHECKING:
    from groundwire.corpus import Ingestion

EPILOG = """Examples:

  groundwire ingest examples/handbook

  groundwire ingest docs/ passages.jsonl --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ingest", epilog=EPILOG)(ingest)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders, Markdown, text or .jsonl files.")],
    profile: Annotated[str | None, typer.Option(help="Whose chunking is used.")] = None,
    intents: Annotated[
        Path | None, typer.Option(help="An intents.toml instead of the one beside the documents.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> int:
    """Read documents into a new snapshot and make it current; running workers move to it by themselves.

    What can't be read is named and left out; then the exit code is 1.
    """
    from groundwire.wiring import ingest_corpus

    known = settings()
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise Invalid(f"no such file or folder: {', '.join(missing)}")
    with console_err().status("reading"):
        done = ingest_corpus(
            paths,
            known.corpus,
            profile=profile or known.profile,
            intents=intents or known.intents,
        )
    if as_json:
        write_json(done)
    else:
        _show(done)
    return ExitCode.FAILED if done.problems else ExitCode.ANSWERED


def _show(done: "Ingestion") -> None:
    console().print(
        f"{done.documents} documents, {done.passages} passages, {done.characters} characters: "
        f"snapshot {done.version} is current"
    )
    for problem in done.problems:
        console_err().print(f"left out {problem.source}: {problem.reason}", markup=False)
