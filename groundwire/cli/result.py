"""`groundwire result`: the result of one query."""

from typing import Annotated

import typer

from contracts import Invalid, Query, outcome_of

from .codes import OF_OUTCOME
from .context import console, run_async, running_bus, write_json

EPILOG = """Examples:

  groundwire result 0-01a22d0f-24e9-779f-af1e-527d21ce9c99

  groundwire result "$(groundwire publish questions.txt | tail -1)" --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("result", epilog=EPILOG)(result)


def result(
    query_id: Annotated[str, typer.Argument(help="As printed by publish.")],
    timeout: Annotated[float, typer.Option(help="Seconds to wait for it.", min=0)] = 60.0,
    trace: Annotated[bool, typer.Option("--trace", help="Show every hop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The response as JSON.")] = False,
) -> int:
    """Print the result of a query, waited for if need be. Exit codes as of `ask`."""
    return run_async(_result(checked(query_id), timeout, trace=trace, as_json=as_json))


def checked(query_id: str) -> str:
    """The id if it can be one; Invalid names the rule it breaks."""
    from pydantic import ValidationError

    from contracts.envelope import fields_at_fault

    try:
        return Query(query_id=query_id, text="", session_id="cli").query_id
    except ValidationError as error:
        raise Invalid(f"{query_id!r} is no query id: {fields_at_fault(error)}") from error


async def _result(query_id: str, timeout_s: float, *, trace: bool, as_json: bool) -> int:
    from .show import response_text, trace_table

    async with running_bus() as bus:
        response = await bus.result(query_id, timeout_s=timeout_s)
        events = await bus.trace(query_id) if trace else []
    if as_json:
        body = response.model_dump(mode="json")
        write_json(body | {"trace": [seen.event for seen in events]} if trace else body)
    else:
        console().print(response_text(response))
        if trace:
            console().print(trace_table(events))
    return OF_OUTCOME[outcome_of(response.status)]
