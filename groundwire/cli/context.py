"""What every command needs: the settings, a client of the running system, and where to print."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from contracts import Misconfigured
from groundwire.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.console import Console

    from bus import Bus, Log, UnreachableLane

T = TypeVar("T")


def settings(*, profile: str | None = None, intents: Path | None = None) -> Settings:
    """The settings of this folder and environment, under what the command line gives."""
    given = {"profile": profile, "intents": intents and intents.absolute()}
    known = load_settings(os.environ, Path.cwd())
    return known.model_copy(update={name: value for name, value in given.items() if value})


def data_folder(given: Path | None, known: Settings) -> Path:
    """Where the published sets lie: as the command line or the settings say; Misconfigured if neither does."""
    folder = given or known.data
    if folder is None:
        raise Misconfigured("no data: give --data DIR or set GROUNDWIRE_DATA")
    return folder


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work; Ctrl-C cancels it, and what it opened is closed on the way."""
    return asyncio.run(work)


@asynccontextmanager
async def running_bus(*, opens_partly: bool = False) -> AsyncIterator["Bus"]:
    """A client of the system of this folder, or of the server that is set; NoSystem without one.

    `opens_partly`: also while lane 0's server is away.
    """
    from groundwire.client import connect

    known = settings()
    async with connect(settings=known, log=log_of(known), opens_partly=opens_partly) as bus:
        yield bus


def environment() -> Mapping[str, str]:
    """The variables, for those that aren't settings of ours."""
    return os.environ


def traced(known: Settings) -> AbstractContextManager[object]:
    """Export the spans of what a command submits, as the OTEL_* variables say; nothing without them."""
    from groundwire.tracing import tracing

    return tracing(environment(), log_of(known), role="client")


def log_of(known: Settings) -> "Log":
    """What a command tells of the queries that it submits: only at level debug, it prints results as it is."""
    from bus import no_log

    if known.log_level != "debug":
        return no_log
    from groundwire import logs

    logs.configure(known.log_level, as_json=known.log_json)
    return logs.bus_log()


def console_err() -> "Console":
    """Where progress and errors go."""
    from .terminal import Terminal

    return Terminal(stderr=True)


def console() -> "Console":
    """Where results go, for a person."""
    from .terminal import Terminal

    return Terminal(highlight=False)


def name_unreachable(lanes: "Iterable[UnreachableLane]", out: "Console") -> None:
    """Name the lanes whose servers don't answer, a line each."""
    for lane in lanes:
        out.print(str(lane), style="red", markup=False, soft_wrap=True)


def write(text: str) -> None:
    """Print a line as it is, for a program or a pipe; a terminal gets nothing that steers it."""
    if sys.stdout.isatty():
        from groundwire.printable import printable

        text = printable(text)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Print a value as one JSON document."""
    write(json_of(value, indent=2 if sys.stdout.isatty() else None))


def json_of(value: object, indent: int | None = None) -> str:
    """A value as JSON, letters as they are; whatever steers a terminal is escaped."""
    from groundwire.printable import escaped

    return escaped(json.dumps(_plain(value), ensure_ascii=False, indent=indent))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(item) for name, item in asdict(value).items()}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
