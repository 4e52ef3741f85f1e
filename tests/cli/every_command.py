"""Every command there is, as the parser knows it, with arguments to try it by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from e2e.machine import HANDBOOK

from groundwire.cli.app import build

QUESTION = "Can I get a refund on an annual plan?"

ARGUMENTS: Mapping[str, tuple[object, ...]] = {
    "acl": (),
    "ask": (QUESTION, "--trace", "--timeout", "5"),
    "asyncapi": (),
    "backup": ("saved",),
    "bench answers": (),
    "bench chunks": (),
    "bench grounding": (),
    "bench injection": (),
    "bench intents": (),
    "bench retrieval": (),
    "bench scale": ("--passages", "0"),
    "bench scope": (),
    "chaos": ("--url", "URL", "--minutes", "0.01", "--runs", "1"),
    "corpus diff": (),
    "corpus fetch": (),
    "corpus list": (),
    "corpus prune": (),
    "corpus publish": (),
    "corpus rollback": (),
    "corpus show": ("policies.md",),
    "dashboard": (),
    "dead discard": ("0/1-0",),
    "dead list": (),
    "dead replay": ("0/1-0",),
    "dead show": ("0/1-0", "--raw"),
    "doctor": (),
    "health": (),
    "ingest": (HANDBOOK, "--dry-run"),
    "intents check": ("--profile", "reference"),
    "intents confusions": ("--profile", "reference"),
    "intents schema": (),
    "intents test": (QUESTION, "--profile", "reference"),
    "publish": ("-",),
    "restore": ("saved",),
    "result": ("0-unknown", "--timeout", "0.1"),
    "search": (QUESTION,),
    "status": (),
    "tail": ("--after", "0", "--limit", "1"),
    "up": ("--docs", HANDBOOK),
    "verify": (),
    "worker": ("sing",),
}
"""What each is tried with. URL stands for the server's."""


@dataclass(frozen=True)
class Command:
    """One command, and whether it speaks JSON too."""

    name: str
    has_json: bool


def every_command() -> Iterator[Command]:
    """All of them, those of groups by both words."""
    yield from _below(typer.main.get_command(build()), ())


def _below(command: Any, path: tuple[str, ...]) -> Iterator[Command]:
    for name, one in getattr(command, "commands", {}).items():
        yield from _below(one, (*path, name))
    if path and not hasattr(command, "commands"):
        options = {option for parameter in command.params for option in parameter.opts}
        yield Command(" ".join(path), "--json" in options)
