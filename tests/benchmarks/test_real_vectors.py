"""The measure of quantised vectors and graphs, on a few."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.vectors import of_graph, of_set
from groundwire.evals.collection import Collection, Entry, Question
from groundwire.evals.metrics import hit
from groundwire.models import missing


def test_a_graph_is_compared_with_all_vectors() -> None:
    """Built twice alike; of this few it misses none."""
    rows = np.random.default_rng(3).normal(size=(260, 16)).astype(np.float32)
    told = list(of_graph(rows[:250], rows[250:]))
    assert "twice the same: True" in told[0]
    assert told[2] == "recall@10 of 10 questions: 1.0000, 0 differ"


@pytest.mark.skipif(bool(missing("minilm")), reason="needs groundwire[vectors]")
def test_a_set_is_ordered_by_floats_and_by_eight_bits(tmp_path: Path) -> None:
    """Both find what is plain."""
    entries = (Entry("a", "Refunds", "Money is sent back."), Entry("b", "Sheep", "They eat grass."))
    questions = (Question("1", "What do sheep eat?", {"b": 1}),)
    told = of_set(Collection("mine", entries, questions), hit, tmp_path)
    assert told == "| mine | 1.0000 | 1.0000 | 0.2000 | 1.0000 | 1.0000 | 1.0000 |"
