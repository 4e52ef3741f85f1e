"""docs/guarantees.md says where each promise is proved: those tests exist, and none is forgotten."""

import ast
import re

from .repository import ROOT, files

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| (\d+) \| .+? \| (.+) \|$", PAGE, re.MULTILINE)
_TEST = re.compile(r"`(tests/[a-z0-9_/]+\.py)::(test_[a-z0-9_]+)`")


def _tests_in(path: str) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, functions)}
    return {name for name in names if name.startswith("test_")}


def test_every_promise_is_proved_by_tests_that_exist() -> None:
    """Eighteen, each with at least one test, each test under the name that the page gives it."""
    assert [int(number) for number, _ in PROMISES] == list(range(1, 19))
    for number, proofs in PROMISES:
        named = _TEST.findall(proofs)
        assert named, number
        for path, name in named:
            assert name in _tests_in(path), f"{path}::{name}"


def test_every_soak_test_proves_a_promise() -> None:
    """A test that takes minutes is there for a reason that the page tells."""
    named = set(_TEST.findall(PAGE))
    for path in files("tests/soak/test_*.py"):
        known = path.relative_to(ROOT).as_posix()
        assert {(known, name) for name in _tests_in(known)} <= named
