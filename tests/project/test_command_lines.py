"""Every command line of ours that a container runs or a page shows is one that the program takes."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
import yaml

from groundwire.cli.app import build

from .compose import every_service
from .repository import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_SPAN = re.compile(r"`([^`\n]+)`")
_BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = re.compile(r"docker compose run --rm (?:client|operator) ([^|;>&#\n]+)")
_OURS = re.compile(r"(?<!-n )\bgroundwire (?!\()([a-z][^|;>&#\n)]*)")
_KUBERNETES = ROOT / "examples" / "deployment" / "kubernetes"


def parse(words: list[str]) -> None:
    """Read the words as the program would, without doing anything; an error if it wouldn't take them."""
    command: Any = _program()
    name: str | None = "groundwire"
    parent: Any = None
    while hasattr(command, "resolve_command"):
        parent = command.make_context(name, list(words), parent=parent)
        name, command, words = command.resolve_command(parent, parent._protected_args + parent.args)
    command.make_context(name, list(words), parent=parent)


@cache
def _program() -> Any:
    return typer.main.get_command(build())


def of_containers() -> Iterator[str]:
    """What compose files and manifests run."""
    for service in every_service().values():
        if service["image"] == "groundwire" and "command" in service:
            yield shlex.join(service["command"])
    for path in _KUBERNETES.rglob("*.yaml"):
        if path.parent.name == "agent":
            continue  # the template
        for one in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if one.get("kind") not in {"Deployment", "Job"}:
                continue
            for container in one["spec"]["template"]["spec"]["containers"]:
                if container["image"] == "groundwire":
                    yield shlex.join(container["args"])


def of_pages() -> Iterator[str]:
    """What the pages show, in blocks and in sentences."""
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        code = [*_BLOCK.findall(page), *_SPAN.findall(_BLOCK.sub("", page))]
        for text in code:
            for pattern in (_RUN, _OURS):
                yield from map(_without_words, pattern.findall(text))


def _without_words(line: str) -> str:
    """A command line of a page, without what is said about it beside it, and without the 2 of `2>file`."""
    line = re.split(r"\s{2,}| 2$", line.strip())[0]
    return line.replace("[", "").replace("]", "")


LINES = sorted({*of_containers(), *of_pages()})


@pytest.mark.parametrize("line", LINES)
def test_the_program_takes_it(line: str) -> None:
    """No option that was renamed, no command that is gone; a sentence may name one without its arguments."""
    try:
        parse(shlex.split(line))
    except typer.TyperException as error:
        if type(error).__name__ != "MissingParameter":
            raise


def test_a_line_that_the_program_does_not_take_is_found() -> None:
    """An unknown option, an unknown command."""
    for line in ("status --port 1", "serve", "corpus nothing"):
        with pytest.raises(typer.TyperException):
            parse(shlex.split(line))
