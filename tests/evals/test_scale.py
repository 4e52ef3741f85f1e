"""The bench of scale: the same synthetic corpus every time, a measure and a picture of it."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from groundwire.corpus import Progress
from groundwire.corpus.keyword import Analysis, Analyzer
from groundwire.evals import synthetic
from groundwire.evals.drawing import growth
from groundwire.evals.scale import measure


def test_the_same_seed_makes_the_same_corpus() -> None:
    """Passages of 40 words, queries of 7, unit vectors; the same every time."""
    texts = list(synthetic.passages(50, 1))
    assert texts == list(synthetic.passages(50, 1)) != list(synthetic.passages(50, 2))
    assert {len(text.split()) for text in texts} == {40}
    assert {len(text.split()) for text in synthetic.queries(20, 1)} == {7}
    (vectors,) = synthetic.vectors(10, 1)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(10), abs=1e-5)


def test_no_two_word_types_are_one_term() -> None:
    """The stemmer leaves 60,000 types as they are; the commonest are stop words."""
    known = synthetic.words()
    assert len(set(known)) == synthetic.WORD_TYPES
    analyzer = Analyzer(Analysis())
    assert analyzer.terms(" ".join(known)) == known[len(synthetic.STOP_WORDS) :]


def test_a_measure_has_every_figure_and_leaves_nothing(tmp_path: Path) -> None:
    """Both indexes are built and searched, progress is told, scratch is removed, growth is drawn."""
    told: list[Progress] = []
    found = [
        measure(size, 3, tmp_path, vectors=True, on_progress=told.append) for size in (50, 500)
    ]
    assert list(tmp_path.iterdir()) == []
    assert {one.step for one in told} == {"keyword", "vectors"}
    last = found[-1]
    assert last.vectors is not None
    assert last.hybrid is not None
    assert last.recall is None
    assert 0 < last.keyword.search.p50_ms <= last.keyword.search.p95_ms
    picture = ElementTree.fromstring(growth(found))
    assert "hybrid" in "".join(picture.itertext())
