"""Files that are there whole or not at all."""

import os
from pathlib import Path

import pytest

from groundwire.files import PRIVATE, replace_file


@pytest.mark.parametrize("lasts", [False, True])
def test_a_file_is_replaced_at_once_and_nothing_stays_beside_it(
    tmp_path: Path, lasts: bool
) -> None:
    """Also where the old one may not be written: its place is what changes."""
    path = tmp_path / "url"
    replace_file(path, b"old", mode=0o400)
    opened = path.open("rb")
    replace_file(path, b"new", mode=PRIVATE, lasts=lasts)
    with opened:
        assert opened.read() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["url"]


def test_a_file_that_can_t_be_put_there_leaves_the_old_one_and_no_draft(tmp_path: Path) -> None:
    """Whatever goes wrong on the way."""
    path = tmp_path / "taken"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match="taken"):
        replace_file(path, b"new")
    assert os.listdir(tmp_path) == ["taken"]


def test_no_draft_may_be_read_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its first byte on a file is its owner's alone, until it has the mode that it is to have."""
    seen: list[int] = []

    def fchmod(handle: int, mode: int) -> None:
        seen.append(os.fstat(handle).st_mode & 0o777)

    monkeypatch.setattr(os, "fchmod", fchmod)
    replace_file(tmp_path / "page", b"text", mode=0o444)
    assert seen == [0o600]
