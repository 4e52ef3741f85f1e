"""What a document holds steers no terminal: escape sequences and turns of direction are shown, not obeyed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.rendering import render
from bus import Seen
from contracts import Event, FormattedResponse
from groundwire.cli.context import console, json_of, write
from groundwire.cli.show import response_text, trace_table
from groundwire.wiring import build_pipeline

from .conftest import Commands

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r\b\u202egnp.exe"
TOLD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def docs(nothing_up: Commands) -> Path:
    folder = nothing_up.home.folder / "docs"
    folder.mkdir()
    page = f"# Refunds {STEERING}\n\nA refund{STEERING} takes nine days. {'It is paid in full. ' * 9}\n"
    (folder / f"refunds{STEERING.replace('/', '')}.md").write_text(page, newline="")
    return folder


@pytest.mark.parametrize("options", [(), ("--explain",), ("--json",)])
def test_a_search_shows_no_document_s_control_characters(
    nothing_up: Commands, docs: Path, options: tuple[str, ...]
) -> None:
    """Not those of its text, its title, its headings or its file's name; as JSON they are escaped, and whole."""
    done = nothing_up("search", "refund", "--docs", docs, "--profile", "fast", *options)
    assert done.code == 0
    assert "takes nine days" in done.out
    assert not TOLD.search(done.out + done.err)
    if "--json" in options:
        assert "\x1b[2J" in done.json["passages"][0]["text"]


def test_a_document_is_listed_and_shown_without_them(
    nothing_up: Commands, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ingest` and `corpus show` name files that anybody may have named; on a terminal that is."""
    done = nothing_up("ingest", docs, "--profile", "fast")
    assert done.code == 0
    assert not TOLD.search(done.out + done.err)
    (file,) = docs.iterdir()
    assert "\x1b" in nothing_up("corpus", "show", file.name).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = nothing_up("corpus", "show", file.name)
    assert shown.code == 0
    assert not TOLD.search(shown.out + shown.err)


def test_everything_that_can_be_printed_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    """Plain, marked up, in a table, as a Text of its own; what the console itself says is left to it."""
    table = Table(box=None)
    table.add_column(STEERING)
    table.add_row(STEERING)
    for thing in (STEERING, Text(STEERING), table):
        console().print(thing, markup=False)
    said = capsys.readouterr().out
    assert said.count("\ufffd") == 20
    assert not TOLD.search(said)
    assert isinstance(console(), Console)


async def test_an_answer_steers_no_terminal(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every channel; a program that reads a pipe gets the bytes as they are."""
    response = (await build_pipeline("fast", docs).run("How long does a refund take?")).response
    assert "\x1b" in response.display_text
    console().print(response_text(response))
    assert not TOLD.search(capsys.readouterr().out)
    write(response.display_text)
    assert capsys.readouterr().out == response.display_text + "\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for channel in ("text", "markdown", "html", "json"):
        write(render(response.channel_json, channel))
    assert not TOLD.search(capsys.readouterr().out)
    written = json_of(response)
    assert not TOLD.search(written)
    assert FormattedResponse.model_validate(json.loads(written)) == response


def test_what_a_worker_wrote_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Events and records may be written by every stage: a bracket in them colours nothing and ends no command."""
    name = "[/red][bold]critic"
    numbers = dict.fromkeys(("attempt", "waited_us", "handled_us", "output_bytes"), 1)
    facts: dict[str, Any] = (
        dict.fromkeys(Event.model_fields, name) | numbers | {"scores": {name: 1.0}}
    )
    event = Event.model_construct(**facts)
    console().print(trace_table([Seen("1-0", 1, event)]))
    assert capsys.readouterr().out.count(name[:12]) >= 3
