"""`groundwire tail`: results as they leave."""

import re
from typing import Annotated

import typer
from rich.markup import escape

from contracts import FormattedResponse, Invalid

from .context import console, console_err, json_of, name_unreachable, run_async, running_bus, write

EPILOG = """Examples:

  groundwire tail

  groundwire tail rejected --after 0 --limit 10 --json
"""
_ID = r"\d+(-\d+)?"
_AFTER = re.compile(rf"\$|{_ID}|[^=,\s]+={_ID}(,[^=,\s]+={_ID})*", re.ASCII)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tail", epilog=EPILOG)(tail)


def tail(
    outcome: Annotated[
        str, typer.Argument(help="answered, out_of_scope, rejected, failed or all.")
    ] = "all",
    after: Annotated[
        str, typer.Option(help="$: from now on; 0: all that are kept; or a cursor.")
    ] = "$",
    limit: Annotated[int | None, typer.Option(help="Stop after so many.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> int:
    """Print results as they come, until Ctrl-C or --limit.

    A lane whose server doesn't answer is named, to standard error; its results follow once it does.
    """
    if not _AFTER.fullmatch(after):
        raise Invalid(f"--after {after!r}: expected $, 0, or the cursor of a result")
    run_async(_tail(outcome, after, limit, as_json=as_json))
    return 0


def first_line(response: FormattedResponse) -> str:
    """What the answer says first, headings aside, and where that stands."""
    lines = [line.strip() for line in response.channel_json.message.splitlines()]
    said = next((line for line in lines if line and not line.startswith("#")), "")
    sources = dict.fromkeys(citation.source for citation in response.channel_json.citations)
    return f"{said} ({', '.join(sources)})" if sources else said


async def _tail(outcome: str, after: str, limit: int | None, *, as_json: bool) -> None:
    out = console()
    seen = 0
    async with running_bus(opens_partly=True) as bus:
        name_unreachable(await bus.unreachable_lanes(), console_err())
        async for result in bus.results(outcome, after=after):
            response = result.response
            if as_json:
                body = {"cursor": result.cursor, **response.model_dump(mode="json")}
                write(json_of(body))
            else:
                line = escape(first_line(response))
                out.print(f"[dim]{response.query_id}[/dim] {response.status}  {line}")
            seen += 1
            if limit is not None and seen >= limit:
                return
