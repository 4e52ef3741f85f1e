"""`groundwire backup`: the data of a running system in a new folder."""

from pathlib import Path
from typing import Annotated

import typer

from .context import console_err, run_async, settings, write, write_json

EPILOG = """Examples:

  groundwire backup backups/2026-12-01

  groundwire backup "/mnt/backups/$(date -u +%FT%H%M)" --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("backup", epilog=EPILOG)(backup)


def backup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that isn't there yet.")],
    no_server: Annotated[
        bool, typer.Option("--no-server", help="Corpus and settings alone.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The manifest as JSON.")] = False,
) -> int:
    """Save the server's data as they are at one moment, the corpus, and the settings without secrets.

    While everything runs. Open queries are in it: restored, they are answered. Each file has its digest in
    DIR/manifest.json. Questions and answers are in it too, so the folder is its owner's alone.
    """
    from groundwire.backup import make_backup

    known = settings()
    with console_err().status("saving") as status:
        work = make_backup(
            known, folder.absolute(), with_server=not no_server, on_step=status.update
        )
        manifest = run_async(work)
    if as_json:
        write_json(manifest)
    else:
        server, corpus = manifest.server or "no server", manifest.corpus or "none"
        write(f"{folder}: data of {server}, corpus {corpus}, {len(manifest.files)} files")
    return 0
