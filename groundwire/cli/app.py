"""The app: its commands, and how an error becomes a line and an exit code."""

import asyncio
import importlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from contracts import (
    GroundwireError,
    Invalid,
    Misconfigured,
    NoSystem,
    ResultTimeout,
    Unreachable,
)

from .codes import ExitCode
from .context import console_err, write

HELP = """Answers from your documents: quoted, cited, checked, or an honest no.

Start with:  groundwire ask --docs examples/handbook "Can I get a refund?"

Exit codes: 0 answered, 1 failed, 2 usage, 3 no system, 4 out_of_scope, 5 rejected, 6 timeout."""

COMMANDS = (
    "ask",
    "search",
    "up",
    "worker",
    "publish",
    "tail",
    "result",
    "status",
    "health",
    "dead",
    "ingest",
    "corpus",
    "intents",
    "verify",
    "backup",
    "restore",
    "doctor",
    "acl",
    "asyncapi",
    "dashboard",
    "chaos",
    "bench",
)

_CODES: Sequence[tuple[type[GroundwireError], ExitCode]] = (
    (ResultTimeout, ExitCode.TIMEOUT),
    (Unreachable, ExitCode.NO_SYSTEM),
    (NoSystem, ExitCode.NO_SYSTEM),
    (Misconfigured, ExitCode.USAGE),
    (Invalid, ExitCode.USAGE),
)


def build() -> typer.Typer:
    """The app with all its commands."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(help=HELP, no_args_is_help=True)(_options)
    for name in COMMANDS:
        importlib.import_module(f"groundwire.cli.{name}").add_to(app)
    return app


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        write(f"groundwire {version('groundwire')}")
        raise typer.Exit


_Version = Annotated[
    bool,
    typer.Option("--version", help="Show it and exit.", is_eager=True, callback=_show_version),
]


def _options(shows_version: _Version = False) -> None:
    """The help of the app stands above: this takes its options, which are done by then."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    command = typer.main.get_command(build())
    try:
        code = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="groundwire",
            standalone_mode=False,
        )
    except (typer.Abort, KeyboardInterrupt, asyncio.CancelledError):
        return ExitCode.INTERRUPTED
    except typer.TyperException as error:
        _explain(error)
        return ExitCode.USAGE
    except GroundwireError as error:
        console_err().print(f"groundwire: {error}", style="red", markup=False, highlight=False)
        return exit_code_of(error)
    return code if isinstance(code, int) else ExitCode.ANSWERED


def _explain(error: typer.TyperException) -> None:
    """Usage, hint and message. Typer brings its own copy of click, whose errors know how to show that."""
    show: Callable[[], None] | None = getattr(error, "show", None)
    if show is not None:
        show()
    else:
        console_err().print(f"groundwire: {error}", markup=False)


def exit_code_of(error: GroundwireError) -> ExitCode:
    """The exit code that an error ends a command with."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)
