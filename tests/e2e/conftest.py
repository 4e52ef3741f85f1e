"""The system that end-to-end tests share where they may: `groundwire up` on the handbook."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .machine import HANDBOOK, Home, running_up


@pytest.fixture(scope="package")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Five processes that answer from the handbook, for these tests. Kill none of them."""
    home = Home(tmp_path_factory.mktemp("handbook"))
    with running_up(home, "--docs", HANDBOOK):
        yield home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder in which nothing runs."""
    return Home(tmp_path)
