"""`groundwire dead`: what could not be processed, and what to do about it."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .codes import ExitCode
from .context import console, name_unreachable, run_async, running_bus, write, write_json

if TYPE_CHECKING:
    from rich.table import Table

    from bus import DeadLetterEntry, DeadLetterList

EPILOG = """Examples:

  groundwire dead list

  groundwire dead replay 0/1796051888630-0
"""
Id = Annotated[str, typer.Argument(metavar="ID", help="As printed by `dead list`.")]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]

dead = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(
        dead, name="dead", help="Dead letters: list, show, replay, discard.", epilog=EPILOG
    )


@dead.command("list")
def list_dead(
    limit: Annotated[int, typer.Option(help="The newest so many.", min=1)] = 100,
    as_json: Json = False,
) -> int:
    """The newest dead letters: query, stage, reason, attempts.

    Exit code 3 if the server of a lane doesn't answer: that one is named, and its dead letters are
    missing.
    """
    return run_async(_list(limit, as_json=as_json))


async def _list(limit: int, *, as_json: bool) -> int:
    async with running_bus(opens_partly=True) as bus:
        found = await bus.dead.list_reachable(limit)
    if as_json:
        letters = [_values(entry) for entry in found.entries]
        write_json({"dead_letters": letters, "unreachable": found.unreachable})
    else:
        _print(found)
    return ExitCode.NO_SYSTEM if found.unreachable else ExitCode.ANSWERED


def _print(found: "DeadLetterList") -> None:
    out = console()
    out.print(_table(found.entries) if found.entries else "no dead letters")
    name_unreachable(found.unreachable, out)


def _table(entries: "Sequence[DeadLetterEntry]") -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "query", "stage", "reason", "error", "attempts", "deliveries", "time"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        record = entry.record
        counts = (str(record.attempts), str(record.deliveries))
        moment = record.time.isoformat(timespec="seconds")
        names = (entry.id, record.query_id, record.stage, record.reason, record.error)
        table.add_row(*map(escape, names), *counts, moment)
    return table


def _values(entry: "DeadLetterEntry") -> dict[str, Any]:
    return {"id": entry.id, **entry.record.model_dump(mode="json")}


@dead.command("show")
def show(
    dead_id: Id,
    raw: Annotated[
        bool, typer.Option("--raw", help="The bytes that lay on the stream, to standard output.")
    ] = False,
    as_json: Json = False,
) -> int:
    """One dead letter: its record, or its raw bytes (the operator's to see)."""

    async def work() -> int:
        async with running_bus(opens_partly=True) as bus:
            entry = await bus.dead.get(dead_id)
            if raw:
                body = await bus.dead.raw(dead_id)
                if body is None:
                    write("the bytes have expired")
                    return 1
                if sys.stdout.isatty():  # whoever wrote them may have meant the operator's terminal
                    write(body.decode(errors="replace"))
                else:
                    sys.stdout.buffer.write(body + b"\n")
                return 0
        if as_json:
            write_json(_values(entry))
        else:
            for name, value in _values(entry).items():
                console().print(f"{name:<12} {value}", markup=False)
        return 0

    return run_async(work())


@dead.command("replay")
def replay(dead_id: Id, as_json: Json = False) -> int:
    """Open the query again with a fresh deadline; its new result supersedes the failed one."""

    async def work() -> None:
        async with running_bus(opens_partly=True) as bus:
            query_id = await bus.dead.replay(dead_id)
        if as_json:
            write_json({"query_id": query_id})
        else:
            write(query_id)

    run_async(work())
    return 0


@dead.command("discard")
def discard(dead_id: Id) -> int:
    """Delete a dead letter and its bytes; its failed result stays."""

    async def work() -> None:
        async with running_bus(opens_partly=True) as bus:
            await bus.dead.discard(dead_id)

    run_async(work())
    return 0
