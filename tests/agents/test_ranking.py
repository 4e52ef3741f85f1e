"""Fusion, order and reranking, and the agent that applies them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.ranking import Ranking, apart, best, fuse, min_max, pair_overlap
from agents.retrieve import Found, FoundPassage, retrieve
from contracts import Intent, Query

scores = st.lists(st.floats(-1e6, 1e6), max_size=20)


def passage(position: int) -> FoundPassage:
    text = ("red fox", "a red fox runs", "the fox is red")[position]
    return FoundPassage(f"p{position}", "d", "D", "d.md", (), text, 0, len(text))


async def search(text: str, labels: tuple[str, ...]) -> Found:
    return Found("v1", [2.0, 1.0, 0.0], [0.0, 0.5, 0.5], passage)


INTENT = Intent(
    query=Query(text="a red fox", session_id="s"),
    cleaned_text="a red fox",
    label="x",
    confidence=1,
    category_scores={"x": 1},
    in_scope=True,
)


@given(scores)
def test_min_max_stays_within_zero_and_one(values: list[float]) -> None:
    """Whatever the range of a score list, negative or not."""
    assert all(0.0 <= value <= 1.0 for value in min_max(values))


def test_equal_scores_normalise_to_zero() -> None:
    """A list that tells nothing adds nothing."""
    assert min_max([7.0, 7.0]) == [0.0, 0.0]
    assert min_max([]) == []


def test_alpha_weighs_keywords_against_vectors() -> None:
    """Alpha 1 is keywords alone, 0 vectors alone."""
    assert fuse([0, 4], [1, 0], 1.0) == [0.0, 1.0]
    assert fuse([0, 4], [1, 0], 0.0) == [1.0, 0.0]
    assert fuse([0, 4, 2], [1, 0, 0], 0.5) == [0.5, 0.5, 0.25]


def test_equal_scores_keep_passage_order() -> None:
    """Sorting is stable."""
    assert best([0.0, 1.0, 0.0, 1.0], 3, range(4)) == [1, 3, 0]


def test_pair_overlap_counts_stop_words() -> None:
    """Jaccard of sets of adjacent pairs: 1 of 3 here."""
    assert pair_overlap("at any time", "at any hour") == pytest.approx(1 / 3)
    assert pair_overlap("one", "two") == 0.0


async def test_retrieve_records_where_each_score_comes_from() -> None:
    """Raw scores, the fused one, and the rank."""
    context = await retrieve(INTENT, search=search, ranking=Ranking(k=2))
    first, second = context.passages
    assert (first.passage_id, first.hybrid_score, first.keyword_score) == ("p1", 0.75, 1.0)
    assert (second.passage_id, second.hybrid_rank, second.final_rank) == ("p0", 2, 2)
    assert first.rerank_score is None


async def test_reranking_keeps_the_hybrid_rank_beside_the_final_one() -> None:
    """The best of the hybrid list are reordered, and one can see from where."""
    context = await retrieve(INTENT, search=search, ranking=Ranking(alpha=1.0, rerank="pairs"))
    assert [(p.passage_id, p.hybrid_rank, p.final_rank) for p in context.passages] == [
        ("p1", 2, 1),
        ("p0", 1, 2),
        ("p2", 3, 3),
    ]


async def test_passages_without_evidence_are_dropped_where_the_profile_says_so() -> None:
    """No term of the question, no answer: an honest fallback instead."""
    context = await retrieve(INTENT, search=search, ranking=Ranking(keep_unsupported=False))
    assert [p.passage_id for p in context.passages] == ["p1", "p0"]


async def test_without_vectors_keywords_decide_and_the_context_says_so() -> None:
    """A new corpus answers before its vectors are there."""

    async def by_keywords(text: str, labels: tuple[str, ...]) -> Found:
        return Found("v1", [1.0, 2.0, 0.0], None, passage)

    ranking = Ranking(k=2, keep_unsupported=False)
    context = await retrieve(INTENT, search=by_keywords, ranking=ranking)
    assert context.signals == ("keyword",)
    assert [(p.passage_id, p.vector_score) for p in context.passages] == [
        ("p1", None),
        ("p0", None),
    ]
    both = await retrieve(INTENT, search=search, ranking=ranking)
    assert both.signals == ("keyword", "vectors")


def test_of_passages_that_share_too_much_the_better_is_kept() -> None:
    """Shared characters count as a share of the shorter passage, and only within one document."""
    spans = [("a", 0, 10), ("a", 4, 14), ("a", 5, 15), ("b", 0, 10), ("a", 10, 12)]
    assert list(apart(spans, range(5), 0.5)) == [0, 2, 3]
    assert list(apart(spans, range(5), 1.0)) == [0, 1, 2, 3, 4]
    assert list(apart(spans, [4, 1, 0, 3], 0.0)) == [4, 0, 3]


async def test_neighbours_are_read_together_and_nothing_is_said_twice() -> None:
    """Who lies in what was read already makes room; who would only overlap it is read alone."""

    def lying(position: int) -> FoundPassage:
        return FoundPassage(
            f"p{position}", "d", "D", "d", (), "x", 10 * position, 10 * position + 9
        )

    def merged(position: int, most_chars: int) -> FoundPassage:
        start, end = 10 * position, min(10 * position + most_chars, 49)
        return FoundPassage(f"p{position}..", "d", "D", "d", (), "x", start, end)

    async def five(text: str, labels: tuple[str, ...]) -> Found:
        return Found("v1", [1.0, 4.0, 3.0, 0.5, 2.0], None, lying, merged=merged)

    context = await retrieve(INTENT, search=five, ranking=Ranking(k=3, merged_chars=19))
    assert [(p.passage_id, p.hybrid_rank) for p in context.passages] == [
        ("p1..", 1),  # holds p2, which was second
        ("p4..", 3),
        ("p0", 4),
    ]
    context = await retrieve(INTENT, search=five, ranking=Ranking(k=3))
    assert [p.passage_id for p in context.passages] == ["p1", "p2", "p4"]
