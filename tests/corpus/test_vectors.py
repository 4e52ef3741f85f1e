"""The vector store: the nearest of what may be seen, the same everywhere."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire.corpus.vectors import VectorIndex, VectorRow, build
from groundwire.corpus.vectors.quantized import _fast_dots, _plain_dots, quantized

ALL = ("public",)
DIMENSIONS = 24
Rows = Sequence[VectorRow]
Floats = NDArray[np.float64]
Make = Callable[..., VectorIndex]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Builds and opens a store."""
    numbers = count()

    def made(rows: Rows, exact_up_to: int = 1_000_000) -> VectorIndex:
        folder = tmp_path / str(next(numbers))
        build(folder, rows, DIMENSIONS, exact_up_to)
        return VectorIndex.open(folder)

    return made


def directions(size: int, seed: int = 1) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((size, DIMENSIONS))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def rows_of(vectors: Floats, labels: tuple[str, ...] = ALL, first: int = 0) -> list[VectorRow]:
    return [VectorRow(first + at, vector, labels) for at, vector in enumerate(vectors)]


def test_the_nearest_are_found_with_their_cosine(make: Make) -> None:
    """All are compared; eight bits cost little."""
    vectors, query = directions(300), directions(1, seed=2)[0]
    found = make(rows_of(vectors)).search(query, ALL, 10)
    cosines = vectors @ query
    assert [one.score for one in found] == pytest.approx(np.sort(cosines)[::-1][:10], abs=0.01)
    assert [cosines[one.ordinal] for one in found] == pytest.approx(
        [one.score for one in found], abs=0.01
    )


def test_hidden_vectors_leave_no_trace(make: Make) -> None:
    """Neither found nor scored, and no bit of another's score changes."""
    mine = rows_of(directions(50), ("a",))
    hidden = rows_of(directions(5_000, seed=3), ("b",), first=100)
    alone, both = make(mine), make([*hidden, *mine])
    for query in directions(20, seed=4):
        assert both.search(query, ["a"], 30) == alone.search(query, ["a"], 30)
        assert both.scores(query, ["a"], [0, 7, 100]) == alone.scores(query, ["a"], [0, 7])
    assert both.search(query, [], 5) == []
    assert both.search(query, ["nobody"], 5) == []


def test_candidates_score_as_in_search(make: Make) -> None:
    """The exact cosine of given passages, where they have a vector."""
    index = make(rows_of(directions(40)))
    query = directions(1, seed=2)[0]
    found = {one.ordinal: one.score for one in index.search(query, ALL, 5)}
    assert index.scores(query, ALL, list(found)) == found
    assert index.scores(query, ALL, [999]) == {}


def test_a_passage_may_lack_a_vector(make: Make) -> None:
    """Gaps in the ordinals are fine; zeros are no direction."""
    vectors = directions(3)
    rows = [VectorRow(5, vectors[0], ALL), VectorRow(900, vectors[1], ALL)]
    index = make([*rows, VectorRow(7, np.zeros(DIMENSIONS), ALL)])
    assert len(index) == 2
    assert [one.ordinal for one in index.search(vectors[1], ALL, 1)] == [900]
    assert set(index.scores(vectors[0], ALL, [5, 6, 7, 900])) == {5, 900}


def test_no_evidence_finds_nothing(make: Make) -> None:
    """A query without direction, or one that all point away from, finds nothing."""
    vector = directions(1)
    assert make(rows_of(vector)).search(-vector[0], ALL, 5) == []
    assert make(rows_of(vector)).search(np.zeros(DIMENSIONS), ALL, 5) == []
    assert make([]).search(vector[0], ALL, 5) == []
    assert make(rows_of(vector)).search(vector[0], ALL, 0) == []


def test_equal_vectors_go_by_ordinal(make: Make) -> None:
    """Ties go to the lower ordinal, also where k cuts them."""
    rows = rows_of(np.repeat(directions(1), 20, axis=0))
    found = make(rows[::-1]).search(directions(1)[0], ALL, 7)
    assert [one.ordinal for one in found] == list(range(7))
    assert found[0].score == pytest.approx(1.0)


def test_stored_vectors_build_the_same_store_again(tmp_path: Path, make: Make) -> None:
    """What `rows` gives back is stored unchanged: an unchanged passage needs no new embedding."""
    rows = rows_of(directions(60))
    kept = make(rows).rows(range(60))
    build(
        tmp_path / "again", [VectorRow(at, kept[at], ALL) for at in range(59, -1, -1)], DIMENSIONS
    )
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / "0" / path.name).read_bytes(), path.name


def test_graphs_are_built_alike_and_say_how_much_they_find(tmp_path: Path) -> None:
    """Above the limit: the same graph from the same rows, with its recall; what it finds is scored exactly."""
    rows = rows_of(directions(2_000))
    one = build(tmp_path / "one", rows, DIMENSIONS, exact_up_to=1_000)
    build(tmp_path / "two", rows, DIMENSIONS, exact_up_to=1_000)
    graph = "graph-0.usearch"
    assert (tmp_path / "one" / graph).read_bytes() == (tmp_path / "two" / graph).read_bytes()
    assert one.recalls[0] >= 0.95
    by_graph = VectorIndex.open(tmp_path / "one")
    build(tmp_path / "exact", rows, DIMENSIONS)
    exact = VectorIndex.open(tmp_path / "exact")
    query = directions(1, seed=2)[0]
    found = by_graph.search(query, ALL, 10)
    assert exact.scores(query, ALL, [hit.ordinal for hit in found]) == {
        hit.ordinal: hit.score for hit in found
    }


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs groundwire[vectors]")
def test_a_model_can_be_loaded_after_a_graph(tmp_path: Path) -> None:
    """In a process of its own, where nothing is loaded yet: a worker opens its index, then its model."""
    code = (
        "import numpy as np; from pathlib import Path; from groundwire.corpus.vectors import graph; "
        f"graph.build(Path({str(tmp_path / 'g')!r}), np.eye(8, dtype=np.int8)); import onnxruntime"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_few_vectors_in_sight_are_all_compared(make: Make) -> None:
    """A large partition beside it changes nothing for a reader of a small one."""
    small = rows_of(directions(50), ("a",))
    large = rows_of(directions(2_000, seed=5), ("b",), first=100)
    both = make([*small, *large], 1_000)
    query = directions(1, seed=2)[0]
    assert both.search(query, ["a"], 10) == make(small).search(query, ["a"], 10)
    assert {one.ordinal >= 100 for one in both.search(query, ["a", "b"], 200)} == {True, False}


@pytest.mark.parametrize("dimensions", [8, 384, 1_100])
@pytest.mark.parametrize("dots", [_fast_dots, _plain_dots])
def test_products_are_exact(dots: Callable[..., Floats], dimensions: int) -> None:
    """Sums of whole numbers, with and without the fast library, also where 32-bit floats would round."""
    rows = quantized(np.random.default_rng(1).standard_normal((5_000, dimensions)))
    rows[:50] = 127
    expected = rows.astype(np.int64) @ rows[0].astype(np.int64)
    assert np.array_equal(dots(rows, rows[0]), expected)


def test_what_is_no_vector_is_refused(tmp_path: Path, make: Make) -> None:
    """Not-a-number and a wrong number of components are errors, not scores."""
    with pytest.raises(ValueError, match="finite"):
        make([VectorRow(0, np.full(DIMENSIONS, np.nan), ALL)])
    with pytest.raises(ValueError, match="components"):
        make([VectorRow(0, np.ones(3), ALL)])
    with pytest.raises(ValueError, match="shape"):
        make(rows_of(directions(1))).search(np.ones(3), ALL, 1)
