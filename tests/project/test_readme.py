"""Every promise of README.md: its commands run, its output is real, its picture is the topology."""

import re
from pathlib import Path

import pytest

from contracts import TOPOLOGY
from groundwire.cli.codes import ExitCode
from groundwire.embedded import TemporaryServer

from . import walkthrough
from .blocks import blocks, matches
from .picture import mermaid
from .walkthrough import README, Printed

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def printed(server: TemporaryServer, ingested_handbook: Path) -> dict[str, Printed]:
    """The whole page, run once from top to bottom."""
    server.flush()
    return walkthrough.go(server.url, ingested_handbook)


@pytest.mark.parametrize("name", walkthrough.names())
def test_a_reader_who_types_it_sees_what_the_page_shows(
    name: str, printed: dict[str, Printed]
) -> None:
    """Each command and program of README.md ends well and prints what stands under it."""
    one = printed[name]
    assert one.code == 0 or one.code_is_shown, one.errors + one.output
    if one.shown is not None:
        assert matches(one.shown, one.output), f"{one.output}\n{one.errors}"


def test_the_picture_is_drawn_from_the_topology() -> None:
    """The flowchart in README.md is what `picture.mermaid(TOPOLOGY)` draws."""
    (picture,) = (block for block in blocks(README) if block.language == "mermaid")
    assert picture.text == mermaid(TOPOLOGY) + "\n"


def test_every_exit_code_is_in_the_table() -> None:
    """README.md lists the exit codes that the command line has, and no others."""
    listed = re.findall(r"^\| (\d+) \|", README, re.MULTILINE)
    assert [int(code) for code in listed] == sorted(int(code) for code in ExitCode)
