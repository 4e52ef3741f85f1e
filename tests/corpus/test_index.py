"""BM25, signed-hash vectors, and search by labels."""

import math

import pytest

from groundwire.corpus import (
    Document,
    Fields,
    Index,
    Passage,
    Scoring,
    Searcher,
    Snapshot,
    embed,
    snapshot_of,
)


def test_bm25_is_the_published_formula() -> None:
    """k1 1.5, b 0.75, idf ln((N - n + 0.5)/(n + 0.5) + 1), computed by hand."""
    index = Index([["red", "red", "fox"], ["dog"]], [[], []], Scoring())
    idf = math.log((2 - 1 + 0.5) / (1 + 0.5) + 1)
    expected = idf * 2 * 2.5 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 2))
    assert index.keyword_scores(["red"]) == [pytest.approx(expected), 0.0]


def test_vectors_have_length_one_and_no_zeros() -> None:
    """The cosine of a text with itself is 1."""
    vector = embed(["red", "fox", "fox"], 256)
    assert sum(value * value for value in vector.values()) == pytest.approx(1.0)
    assert embed([], 256) == {}
    assert Index([[]], [["red", "fox"]], Scoring()).vector_scores(["fox", "red"]) == [
        pytest.approx(1.0)
    ]


def test_an_empty_index_answers_with_nothing() -> None:
    """No passage is open to these labels."""
    assert Index([], [], Scoring()).keyword_scores(["x"]) == []


def corpus() -> Snapshot:
    def document(name: str, text: str, label: str) -> Document:
        passage = Passage(f"{name}_p0", 0, len(text), ("Foxes",))
        return Document(name, name, f"{name}.md", text, (label,), passages=(passage,))

    documents = [
        document("a", "red fox", "public"),
        document("b", "grey fox fox", "staff"),
        document("c", "a dog", "public"),
    ]
    return snapshot_of(documents)


def test_labels_filter_before_anything_is_counted() -> None:
    """What a reader may not see changes no score: the statistics don't know of it."""
    searcher = Searcher(str.split, Fields(), Scoring())
    everything = corpus()
    without = snapshot_of(d for d in everything.documents.values() if "public" in d.labels)
    hits = searcher.score(everything, ("public",), "fox")
    assert [document.doc_id for document, _ in hits.passages] == ["a", "c"]
    assert hits == searcher.score(without, ("public",), "fox")
    assert searcher.score(everything, ("other",), "fox").passages == []
    assert len(searcher.score(everything, ("staff", "public"), "fox").passages) == 3


def test_headings_count_as_keywords_where_the_profile_says_so() -> None:
    """A passage is about what its heading says."""
    plain = Searcher(str.split, Fields(), Scoring()).score(corpus(), ("public",), "Foxes")
    headed = Searcher(str.split, Fields(headings=True), Scoring()).score(
        corpus(), ("public",), "Foxes"
    )
    assert max(plain.keyword_scores) == 0.0
    assert min(headed.keyword_scores) > 0.0
