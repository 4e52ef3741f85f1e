"""Vectors of sentences: stored by passage, computed once for each text, and a passage's best one counts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from letters import letter_counts
from numpy.typing import NDArray

from groundwire.corpus import CorpusStore, Recipe, SentencePart, VectorPart, ingest, snapshot_of
from groundwire.corpus.chunking import Chunking
from groundwire.corpus.model import Document, Passage
from groundwire.corpus.said import said
from groundwire.corpus.vectors.quantized import quantized
from groundwire.corpus.vectors.sentences import SentenceVectors, write
from groundwire.models import Cached


class Letters:
    """Counts letters, and tells what it was asked for."""

    model_id = "letters"
    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return letter_counts(texts)


def unit(*components: float) -> NDArray[np.float64]:
    row = np.array(components, np.float64)
    return np.asarray(row / np.linalg.norm(row))


def test_the_best_sentence_of_a_passage_counts_in_its_place(tmp_path: Path) -> None:
    """The sum of its direction and its passage's; without sentences the passage's alone, without a vector nothing."""
    rows = [np.stack([unit(1, 0), unit(0, 1)]), np.zeros((0, 2)), np.stack([unit(0, 1)])]
    assert write(tmp_path / "s", rows, 2) == 3
    stored = SentenceVectors.open(tmp_path / "s")
    own = {0: quantized(unit(1, 1)[None])[0], 1: quantized(unit(1, 1)[None])[0]}
    found = stored.nearest(quantized(unit(1, 0)[None])[0], own, [0, 1, 2])
    assert found == pytest.approx([np.cos(np.pi / 8), np.cos(np.pi / 4), 0.0], abs=0.01)
    assert stored.nearest(quantized(np.zeros((1, 2)))[0], own, [0, 1]) == [0.0, 0.0]


def test_a_store_without_any_sentence_can_be_opened(tmp_path: Path) -> None:
    """Nothing can't be mapped."""
    write(tmp_path / "s", [np.zeros((0, 2)), np.zeros((1, 2))], 2)
    own = {0: quantized(unit(1, 0)[None])[0]}
    asked = quantized(unit(1, 0)[None])[0]
    assert SentenceVectors.open(tmp_path / "s").nearest(asked, own, [0]) == pytest.approx([1.0])


def test_a_sentence_of_signs_alone_says_nothing() -> None:
    """It would be near to anything, or to nothing."""
    text = "It leaves at six.\n\n* * *\n\nNobody steers."
    document = Document("a", "A", "a", text, passages=(Passage("a1", 0, len(text)),))
    assert all(any(map(str.isalnum, one)) for one in said(document, document.passages[0]))
    assert snapshot_of([document]).counts.passages == 1


def test_an_edited_sentence_computes_itself_alone_and_a_removed_one_is_forgotten(
    tmp_path: Path,
) -> None:
    """What neighbours say stays as it was stored; counts agree with the passages, which digests guard."""
    docs, root, letters = tmp_path / "docs", tmp_path / "root", Letters()
    docs.mkdir()
    (docs / "a.md").write_text("# T\n\nFerries leave at six. Nobody steers them.\n")
    (docs / "b.md").write_text("# U\n\nTugs are blue.\n")
    cache = Cached(letters, tmp_path / "sentences.sqlite")
    passages = VectorPart(Cached(Letters(), tmp_path / "vectors.sqlite"))
    recipe = Recipe(Chunking(), parts=(passages, SentencePart(cache)))
    ingest([docs], root, recipe)
    letters.asked.clear()
    (docs / "a.md").write_text("# T\n\nFerries leave at six. Ada steers them.\n")
    ingest([docs], root, recipe)
    assert letters.asked == ["Ada steers them."]
    snapshot = CorpusStore(root).current()
    assert {"vectors", "sentences"} <= set(snapshot.manifest.parts)
    assert any(name.startswith("sentences/") for name in snapshot.manifest.files)
    assert cache.unknown(["Nobody steers them.", "Ada steers them."]) == 1


def test_the_same_sentences_give_the_same_bytes(tmp_path: Path) -> None:
    """A snapshot reached in steps is one built at once."""
    rows = [np.stack([unit(1, 2), unit(3, 1)]), np.stack([unit(1, 5)])]
    for name in ("one", "two"):
        write(tmp_path / name, rows, 2)
    one, two = (
        {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())}
        for name in ("one", "two")
    )
    assert one == two
