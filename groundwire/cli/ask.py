"""`groundwire ask`: publish a question to `queries`, wait for its result."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Channel, Invalid, NoSystem, Query, outcome_of
from groundwire.settings import Settings

from .codes import OF_OUTCOME
from .context import console, console_err, log_of, run_async, settings, traced, write, write_json

if TYPE_CHECKING:
    from rich.status import Status

    from bus import Bus, Seen
    from contracts import FormattedResponse

EPILOG = """Examples:

  groundwire ask --docs examples/handbook "Can I get a refund on an annual plan?"

  groundwire ask "How do I cancel?" --json | jq -r .display_text

  groundwire ask "How do I cancel?" --channel markdown

  groundwire ask "How do I cancel?" --trace
"""


@dataclass(frozen=True)
class Asking:
    """What was asked, and how."""

    question: str
    docs: Path | None
    profile: str | None
    intents: Path | None
    trace: bool
    as_json: bool
    timeout_s: float
    session: str
    channel: Channel


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ask", epilog=EPILOG)(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    docs: Annotated[
        Path | None, typer.Option(help="Answer from these documents (a private system if needed).")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Configuration of the agents.")] = None,
    intents: Annotated[
        Path | None, typer.Option(help="An intents.toml instead of the one beside the documents.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show every hop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The response as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the result.", min=0)] = 60.0,
    session: Annotated[str, typer.Option(help="The session the question belongs to.")] = "cli",
    channel: Annotated[Channel, typer.Option(help="How the answer is written.")] = "text",
) -> int:
    """Ask one question; prints the answer with its citation, or says honestly that there is none.

    With nothing running, or with other documents than the running system has, a private system is
    started for this call and removed afterwards.
    """
    asking = Asking(question, docs, profile, intents, trace, as_json, timeout, session, channel)
    response, events = run_async(_ask(asking))
    if as_json:
        body = response.model_dump(mode="json")
        write_json(body | {"trace": [seen.event for seen in events]} if trace else body)
    elif channel != "text" and not trace:
        write(response.display_text)
    else:
        _show(response, events)
    return OF_OUTCOME[outcome_of(response.status)]


async def _ask(asking: Asking) -> "tuple[FormattedResponse, list[Seen]]":
    query = query_of(asking)
    chosen = settings(profile=asking.profile, intents=asking.intents)
    with traced(chosen), console_err().status("looking for a running system") as status:
        async with _bus(asking, chosen, status) as bus:
            watching = asyncio.create_task(_name_steps(bus, query, status))
            try:
                query_id = await bus.submit(query)
                response = await bus.result(query_id, timeout_s=asking.timeout_s)
                events = await bus.trace(query_id) if asking.trace else []
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
    return response, events


def query_of(asking: Asking) -> Query:
    """The question as a query; Invalid names the rule it breaks."""
    from pydantic import ValidationError

    from contracts.envelope import fields_at_fault

    try:
        return Query(text=asking.question, session_id=asking.session, channel=asking.channel)
    except ValidationError as error:
        raise Invalid(f"the question was not accepted: {fields_at_fault(error)}") from error


@asynccontextmanager
async def _bus(asking: Asking, chosen: Settings, status: "Status") -> "AsyncIterator[Bus]":
    """The running system if it is the one asked for, else a private one."""
    from groundwire.client import connect

    url = await _running_url(asking, chosen)
    if url is not None:
        async with connect(url, settings=chosen, log=log_of(chosen)) as bus:
            idle = await bus.idle_stages()
            if idle:
                raise NoSystem(
                    f"no worker is running for {', '.join(idle)}: start them with "
                    f"`groundwire worker {idle[0]}`"
                )
            yield bus
        return
    from groundwire.system import private_system

    async with private_system(chosen, docs=asking.docs, on_step=status.update) as system:
        yield system.bus


async def _running_url(asking: Asking, chosen: Settings) -> str | None:
    """The running system's URL, if it answers from what was asked for; a server of the user's own is not known to."""
    from groundwire.embedded import find_system

    if chosen.redis_url is not None:
        particular = asking.docs or asking.profile or asking.intents
        return None if particular else chosen.redis_url.get_secret_value()
    running = None if asking.intents else await find_system(chosen.home)
    if running is None:
        return None
    same_docs = asking.docs is None or str(asking.docs.resolve()) == running.state.docs
    same_profile = asking.profile is None or asking.profile == running.state.profile
    return running.url if same_docs and same_profile else None


async def _name_steps(bus: "Bus", query: Query, status: "Status") -> None:
    status.update("understand")
    async for seen in bus.steps(query):
        status.update(f"{seen.event.stage} done")


def _show(response: "FormattedResponse", events: "list[Seen]") -> None:
    from .show import response_text, trace_table

    out = console()
    out.print(response_text(response))
    if events:
        out.print()
        out.print(trace_table(events))
