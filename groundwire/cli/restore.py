"""`groundwire restore`: a backup put back where nothing is."""

from pathlib import Path
from typing import Annotated

import typer

from .context import console_err, run_async, settings, write, write_json

EPILOG = """Examples:

  groundwire restore backups/2026-12-01

  GROUNDWIRE_HOME=/srv/groundwire groundwire restore /mnt/backups/2026-12-01T0300
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("restore", epilog=EPILOG)(restore)


def restore(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `groundwire backup` made.")],
    no_server: Annotated[bool, typer.Option("--no-server", help="The corpus alone.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Check every file of a backup, then put server's data and corpus in their places.

    Nothing may run there, and nothing is overwritten. Settings aren't put back: which differ is told. Then
    `groundwire up`, and `groundwire verify`. Queries that were open are answered; whose deadline has passed
    meanwhile ends as failed, and `groundwire dead replay` opens it again.
    """
    from groundwire.backup import restore_backup

    known = settings()
    with console_err().status("restoring") as status:
        work = restore_backup(
            known, folder.absolute(), with_server=not no_server, on_step=status.update
        )
        restored = run_async(work)
    if as_json:
        write_json(restored)
        return 0
    made, differences = restored.manifest, restored.differences
    write(f"{known.home}: as of {made.created_at}; now `groundwire up`, then `groundwire verify`")
    if differences:
        write(f"settings that were others then ({folder}/settings.toml): {', '.join(differences)}")
    return 0
