"""Pages and files: links lead somewhere, names are told once, nothing is of one machine only."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from bus.keys import Keys
from contracts import TOPOLOGY
from groundwire.cli.app import COMMANDS

from .repository import ROOT, files

PAGES = files("*.md", ":!examples/*/*", ":!tests")
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]+)?(#[^)\s]+)?\)")
_OURS = "docs|tests|bus|groundwire|agents|contracts|benchmarks|examples"
_FILE = re.compile(rf"(?<![\w./-])(?:{_OURS})/[\w./-]+\.(?:md|py|lua|toml|ya?ml|jsonl?|svg|txt)\b")
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home/[a-z]+|Users)/(?!groundwire)[\w.]")
_REGISTRY = re.compile(r"files\.pythonhosted\.org|pypi\.org/simple|index-url|registry\.npmjs")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _anchors(page: str) -> set[str]:
    """The anchors that GitHub gives a page's headings: what is fenced has none, a second of a name gets a number."""
    headings = re.findall(r"^#{1,6} (.+)$", _FENCED.sub("", page), re.MULTILINE)
    plain = (re.sub(r"\]\([^)]*\)", "", heading.lower()) for heading in headings)
    named = [re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain]
    before = Counter[str]()
    found = set[str]()
    for name in named:
        found.add(f"{name}-{before[name]}" if before[name] else name)
        before[name] += 1
    return found


def test_anchors_are_those_that_a_reader_can_follow() -> None:
    """No comment in a block of commands, and the second heading of a name under its number."""
    page = "# One `two`\n```\n# three\n```\n## [Four](x.md)\n### one two\n"
    assert _anchors(page) == {"one-two", "four", "one-two-1"}


@pytest.mark.parametrize("page", files("*.md"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    """A relative link names a file or folder that exists, and its anchor a heading in it."""
    for target, anchor in _LINK.findall(_text(page)):
        found = page.parent / target if target else page
        assert found.exists(), target
        if anchor:
            assert anchor[1:] in _anchors(_text(found)), f"{target}{anchor}"


def test_every_file_that_is_named_exists() -> None:
    """In pages, comments, messages and configuration; docs/adding-an-agent.md names those that its reader writes."""
    naming = files("*.md", "*.py", "*.toml", "*.y*ml", "Makefile", ":!tests", ":!docs/adding-*")
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in naming
        for name in _FILE.findall(_text(path))
    }
    assert len(named) > 100
    assert {one for one in named if not (ROOT / one[1]).exists()} == set()


def test_readme_and_changelog_name_every_command() -> None:
    """A command of the command line is announced in CHANGELOG.md by its name."""
    added = _text(ROOT / "CHANGELOG.md")
    assert [name for name in COMMANDS if f"`{name}`" not in added.replace("groundwire ", "")] == []


def test_settings_are_described_in_one_place() -> None:
    """Other pages may name a setting and link to docs/settings.md; none repeats its table."""
    for page in PAGES:
        if page != ROOT / "docs" / "settings.md":
            assert "| variable | default |" not in _text(page), page


def test_readme_names_the_streams_as_the_bus_does() -> None:
    """The keys in README.md are those of lane 0."""
    named = set(re.findall(r"gw:\{0\}:[a-z_.]+:?", _text(ROOT / "README.md")))
    known = {Keys(0).of(TOPOLOGY.entry.consumes), Keys(0).of("results.answered")}
    assert named == known | {Keys(0).result("")}


def test_no_file_knows_a_machine_or_a_registry() -> None:
    """No file names a path of someone's machine or a package registry; uv.lock has its registry."""
    strangers = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files(":!uv.lock", ":!tests/project/test_documents.py")
        for match in (*_MACHINE.finditer(_text(path)), *_REGISTRY.finditer(_text(path)))
    ]
    assert strangers == []


def test_the_lock_file_is_of_this_project_file() -> None:
    """uv.lock was made from the dependencies in pyproject.toml: `uv sync --frozen` doesn't look."""
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))
    lock = tomllib.loads(_text(ROOT / "uv.lock"))
    (own,) = (one for one in lock["package"] if one["name"] == project["project"]["name"])

    def name(requirement: str) -> str:
        return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower()

    extras = project["project"].get("optional-dependencies", {}).values()
    groups = [project["project"]["dependencies"], *extras]
    wanted = {name(one) for group in groups for one in group}
    assert {one["name"] for one in own["metadata"]["requires-dist"]} == wanted
    wanted_dev = {name(one) for one in project["dependency-groups"]["dev"]}
    assert {one["name"] for one in own["metadata"]["requires-dev"]["dev"]} == wanted_dev
    assert lock["requires-python"] == project["project"]["requires-python"]
