"""`groundwire acl`: the users of the server, each with no more rights than it needs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from contracts import Invalid

from .codes import ExitCode
from .context import console_err, write

ADMIN = "default"
EPILOG = """Examples:

  groundwire acl --new passwords > users.acl

  groundwire acl --passwords passwords --commands | valkey-cli

  groundwire acl --folder access --url redis://valkey:6379/0

  GROUNDWIRE_REDIS_URL_FILE=access/format/redis-url groundwire worker format
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("acl", epilog=EPILOG)(acl)


def acl(
    passwords: Annotated[
        Path | None,
        typer.Option(help="File with `user password` on each line.", dir_okay=False),
    ] = None,
    new: Annotated[
        Path | None,
        typer.Option(help="Make that file, with a random password for each user.", dir_okay=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Keep a folder: passwords, server/users.acl, USER/redis-url. Again: what is new is added.",
            file_okay=False,
        ),
    ] = None,
    url: Annotated[
        str, typer.Option(help="The server's URL in that folder, without a user.")
    ] = "redis://localhost:6379/0",
    commands: Annotated[
        bool, typer.Option("--commands", help="As ACL SETUSER commands, not as an ACL file.")
    ] = False,
) -> int:
    """Print the server's users: one for each agent, `client`, `observer`, `scaler`, `operator` (Redis 7, Valkey).

    Passwords are printed as SHA-256 hashes. A user without one can't log in. `default`, the user without
    a name, is printed where the file has a password for it, with all rights: somebody has to manage the others.
    """
    from bus.access import users
    from groundwire.passwords import make_passwords, read_passwords

    if sum(one is not None for one in (passwords, new, folder)) > 1:
        raise Invalid("choose one of --passwords, --new and --folder")
    names = [user.name for user in users()]
    if folder is not None:
        return _keep(folder, url, names)
    words = read_passwords(passwords) if passwords is not None else {}
    if strangers := sorted(words.keys() - {*names, ADMIN}):
        raise Invalid(f"no user {strangers[0]!r}; there are: {', '.join([*names, ADMIN])}")
    if new is not None:
        words = make_passwords(new, [*names, ADMIN])
    for line in _lines(words, "ACL SETUSER" if commands else "user"):
        write(line)
    _note([name for name in names if name not in words], has_admin=ADMIN in words)
    return ExitCode.ANSWERED


def _lines(words: Mapping[str, str], opening: str) -> Iterator[str]:
    """A user on each line, with its password's hash."""
    from bus.access import users
    from groundwire.passwords import hashed

    hashes = hashed(words)
    rules = {user.name: user.rules for user in users()}
    if ADMIN in hashes:
        rules[ADMIN] = ("~*", "&*", "+@all")
    for name, of_user in rules.items():
        password = (f"#{hashes[name]}",) if name in hashes else ()
        yield " ".join([opening, name, "reset", "on", *password, *of_user])


def _keep(folder: Path, url: str, names: Sequence[str]) -> int:
    """Write the folder, and say what is in it."""
    from groundwire.credentials import write_credentials

    write_credentials(folder, url, names, lambda words: "\n".join(_lines(words, "user")))
    write(f"{folder}: server/users.acl, and redis-url in {', '.join([*names, ADMIN])}")
    return ExitCode.ANSWERED


def _note(without: list[str], *, has_admin: bool) -> None:
    """Say what isn't safe yet, on standard error: the output is a file's."""
    if without:
        note = f"without a password, and so unable to log in: {', '.join(without)}"
        console_err().print(note, markup=False, soft_wrap=True)
    if not has_admin:
        note = (
            f"`{ADMIN}` is not in here: unless it has a password or is off, anyone may do anything"
        )
        console_err().print(note, markup=False, soft_wrap=True)
