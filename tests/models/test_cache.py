"""The cache: a text is embedded once for each model, across processes and runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundwire.models import Cached, Vectors


class Counting:
    """Rows that tell the length of their text; remembers what it was asked."""

    dimensions = 2

    def __init__(self, model_id: str = "counting") -> None:
        self.model_id = model_id
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """Repeated in a call, and in a later run on the same file."""
    first = Counting()
    rows = Cached(first, tmp_path / "c.sqlite").embed(["bb", "a", "bb"])
    assert rows.tolist() == [[2, 1], [1, 1], [2, 1]]
    assert sorted(first.asked) == ["a", "bb"]
    again = Counting()
    assert (Cached(again, tmp_path / "c.sqlite").embed(["bb", "a", "bb"]) == rows).all()
    assert again.asked == []


def test_another_model_has_rows_of_its_own(tmp_path: Path) -> None:
    """The key is the model with the content."""
    Cached(Counting("one"), tmp_path / "c.sqlite").embed(["a"])
    other = Counting("two")
    Cached(other, tmp_path / "c.sqlite").embed(["a"])
    assert other.asked == ["a"]


def test_no_texts_ask_nothing(tmp_path: Path) -> None:
    """The width stays, the embedder rests."""
    inner = Counting()
    assert Cached(inner, tmp_path / "c.sqlite").embed([]).shape == (0, 2)
    assert inner.asked == []


def test_progress_counts_new_texts(tmp_path: Path) -> None:
    """In batches, up to the number of those that weren't known."""
    told: list[tuple[int, int]] = []
    cached = Cached(Counting(), tmp_path / "c.sqlite", progress=lambda *done: told.append(done))
    cached.embed([str(number) for number in range(700)])
    cached.embed([str(number) for number in range(701)])
    assert told == [(512, 700), (700, 700), (1, 1)]
