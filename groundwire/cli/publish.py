"""`groundwire publish`: many questions at once, from a file or standard input."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from pydantic import ValidationError
from pydantic_core import from_json

from contracts import Channel, Invalid, Overloaded, Query
from contracts.envelope import fields_at_fault

from .context import console_err, run_async, running_bus, settings, traced, write, write_json

if TYPE_CHECKING:
    from bus import Bus

EPILOG = """Examples:

  groundwire publish questions.txt

  echo '{"text": "How do I cancel?", "session_id": "s1"}' | groundwire publish -
"""
_CHUNK = 100


@dataclass(frozen=True)
class Defaults:
    """What a line has that doesn't say otherwise."""

    session_id: str
    channel: Channel = "text"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("publish", epilog=EPILOG)(publish)


def publish(
    source: Annotated[Path, typer.Argument(metavar="[FILE|-]", help="Lines; - is stdin.")] = Path(
        "-"
    ),
    session: Annotated[str, typer.Option(help="Session of lines that name none.")] = "publish",
    channel: Annotated[
        Channel, typer.Option(help="How answers to lines that name no channel are written.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The query ids as JSON.")] = False,
) -> int:
    """Publish one question a line: plain text, or a JSON object with the fields of a query.

    Every line is checked before the first is published. Prints the query ids in order; where the
    server refuses one, those of the hundreds of lines before it.
    """
    queries = read_queries(source, Defaults(session, channel))
    with traced(settings()):
        run_async(_publish(queries, as_json=as_json))
    return 0


def read_queries(source: Path, given: Defaults) -> list[Query]:
    """The queries of a file, blank lines skipped; Invalid names the first line that is none."""
    if str(source) == "-":
        return _parse(sys.stdin, "standard input", given)
    try:
        with source.open(encoding="utf-8") as lines:
            return _parse(lines, str(source), given)
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{source} cannot be read: {error}") from error


def _parse(lines: TextIO, name: str, given: Defaults) -> list[Query]:
    queries = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text:
            queries.append(_query(text, f"{name}, line {number}", given))
    return queries


def _query(text: str, where: str, given: Defaults) -> Query:
    try:
        if not text.startswith("{"):
            return Query(text=text, session_id=given.session_id, channel=given.channel)
        fields = from_json(text)
        return Query.model_validate({**asdict(given), **fields})
    except ValidationError as error:
        raise Invalid(f"{where}: {fields_at_fault(error)}; nothing was published") from error
    except ValueError as error:
        raise Invalid(f"{where}: not JSON: {error}; nothing was published") from error


async def _publish(queries: list[Query], *, as_json: bool) -> None:
    """Prints the ids of what was accepted also where the rest is refused."""
    ids: list[str] = []
    async with running_bus() as bus:
        try:
            async with aclosing(_accepted(bus, queries)) as chunks:
                async for accepted in chunks:
                    ids += accepted
                    if not as_json:
                        write("\n".join(accepted))
        finally:
            if as_json:
                write_json({"query_ids": ids})


async def _accepted(bus: "Bus", queries: list[Query]) -> AsyncGenerator[list[str], None]:
    """The ids of each chunk once it is accepted; an overloaded system is waited for."""
    from rich.progress import Progress

    with Progress(console=console_err(), transient=True) as progress:
        task = progress.add_task("publishing", total=len(queries))
        left = [bus.named(query) for query in queries]
        while left:
            try:
                accepted = await bus.submit_many(left[:_CHUNK])
            except Overloaded as refused:
                # Their ids are minted: those accepted by now are known when the chunk comes again.
                progress.update(task, description="waiting, too many queries are open")
                await asyncio.sleep(refused.retry_after_s)
                continue
            left = left[_CHUNK:]
            progress.update(task, advance=len(accepted), description="publishing")
            yield accepted
