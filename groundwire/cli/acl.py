"""`groundwire acl`: the users of the server, each with no more rights than it needs."""

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

  GROUNDWIRE_REDIS_URL=redis://format:…@localhost groundwire worker format
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
    commands: Annotated[
        bool, typer.Option("--commands", help="As ACL SETUSER commands, not as an ACL file.")
    ] = False,
) -> int:
    """Print the server's users: one for each agent, `client` and `operator` (Redis 7, Valkey).

    Passwords are printed as SHA-256 hashes. A user without one can't log in. `default`, the user without
    a name, is printed where the file has a password for it, with all rights: somebody has to manage the others.
    """
    from bus.access import users
    from groundwire.passwords import hashed, make_passwords, read_passwords

    if passwords is not None and new is not None:
        raise Invalid("give either --passwords or --new")
    known = users()
    names = [user.name for user in known]
    words = read_passwords(passwords) if passwords is not None else {}
    if strangers := sorted(words.keys() - {*names, ADMIN}):
        raise Invalid(f"no user {strangers[0]!r}; there are: {', '.join([*names, ADMIN])}")
    if new is not None:
        words = make_passwords(new, [*names, ADMIN])
    hashes = hashed(words)
    rules = {user.name: user.rules for user in known}
    if ADMIN in hashes:
        rules[ADMIN] = ("~*", "&*", "+@all")
    opening = "ACL SETUSER" if commands else "user"
    for name, of_user in rules.items():
        password = (f"#{hashes[name]}",) if name in hashes else ()
        write(" ".join([opening, name, "reset", "on", *password, *of_user]))
    _note([name for name in names if name not in hashes], has_admin=ADMIN in hashes)
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
