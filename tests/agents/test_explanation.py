"""Why passages are in their order: parts that sum to the scores, ranks, and who moved by what."""

from collections.abc import Sequence

import pytest

from agents.explanation import Explained, Explanation, explain
from agents.ranking import Fusion, Ranking
from agents.retrieve import Found, FoundPassage, retrieve
from agents.tokens import Analyzer
from contracts import Intent, Query

INTENT = Intent(
    query=Query(text="red fox", session_id="s"),
    cleaned_text="red fox",
    label="x",
    confidence=1,
    category_scores={"x": 1},
    in_scope=True,
)
TEXTS = ("fox red", "an old fox", "a red fox", "night")
WEIGHTS = {"keyword": 0.5, "vector": 2.0, "feedback": 0.25, "pairs": 3.0, "numbers": 1.0}
LINEAR = Ranking(k=4, rerank="linear", weights=WEIGHTS, analyze=Analyzer(stems=True))


def passage(position: int) -> FoundPassage:
    body = TEXTS[position]
    return FoundPassage(f"p{position}", "d", "D", "d.md", (), body, 0, len(body))


async def search(text: str, labels: tuple[str, ...]) -> Found:
    def alike(positions: Sequence[int]) -> list[float]:
        return [1.0, 0.5, 0.5, 0.0]

    return Found("v1", [3.0, 2.0, 1.0, 0.0], [0.4, 0.5, 0.6, 0.0], passage, alike)


async def by_words(text: str, labels: tuple[str, ...]) -> Found:
    return Found("v1", [3.0, 2.0, 1.0, 0.0], None, passage)


def named(found: Explanation, name: str) -> Explained:
    return next(one for one in found.passages if one.passage.passage_id == name)


@pytest.mark.parametrize("rerank", ["none", "pairs", "linear"])
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
async def test_the_parts_sum_to_the_scores_that_decided(fusion: Fusion, rerank: str) -> None:
    """Nothing is left out of a bar, and nothing is added to it."""
    ranking = Ranking(**{**vars(LINEAR), "fusion": fusion, "rerank": rerank, "alpha": 0.3})
    found = await explain(INTENT, search=search, ranking=ranking)
    for one in found.passages:
        fused = sum(part.points for part in one.fused)
        assert fused == pytest.approx(one.passage.hybrid_score)
        told = sum(part.points for part in one.told)
        assert told == pytest.approx(one.passage.rerank_score or 0.0)


async def test_the_explained_context_is_the_one_that_retrieve_returns() -> None:
    """An explanation of something else would be worth nothing."""
    found = await explain(INTENT, search=search, ranking=LINEAR)
    assert found.context == await retrieve(INTENT, search=search, ranking=LINEAR)
    assert [one.passage for one in found.passages] == list(found.context.passages)
    assert found.candidates == 4


async def test_ranks_by_each_signal_are_among_all_candidates() -> None:
    """None where the signal has nothing to say."""
    found = await explain(INTENT, search=search, ranking=LINEAR)
    ranks = {one.passage.passage_id: (one.keyword_rank, one.vector_rank) for one in found.passages}
    assert ranks == {"p0": (1, 3), "p1": (2, 2), "p2": (3, 1), "p3": (None, None)}


async def test_who_moved_up_is_told_with_the_feature_that_moved_it() -> None:
    """The one by which it leads those it overtook the most; the others were overtaken by the same."""
    found = await explain(INTENT, search=search, ranking=LINEAR)
    up, down = named(found, "p2"), named(found, "p0")
    assert (up.passage.hybrid_rank, up.passage.final_rank) == (3, 1)
    assert up.moved is not None
    assert up.moved.by == "pairs"
    assert up.moved.points == pytest.approx(3.0 - (1.5 + 0.0) / 2)
    assert down.moved is not None
    assert (down.moved.by, down.moved.points < 0) == ("pairs", True)
    assert named(found, "p3").moved is None


async def test_without_a_second_look_nobody_moves() -> None:
    """There are no features to tell of."""
    found = await explain(INTENT, search=search, ranking=Ranking(k=4))
    assert all(one.moved is None and one.told == () for one in found.passages)


async def test_word_pairs_are_their_own_reason() -> None:
    """The course's reranking has one feature."""
    found = await explain(INTENT, search=search, ranking=Ranking(k=4, rerank="pairs"))
    first = found.passages[0]
    assert [part.name for part in first.told] == ["pairs"]
    assert first.moved is not None
    assert first.moved.by == "pairs"


async def test_without_vectors_words_are_all_of_the_fusion() -> None:
    """A corpus whose vectors aren't there yet."""
    found = await explain(INTENT, search=by_words, ranking=LINEAR)
    for one in found.passages:
        assert [part.name for part in one.fused] == ["keyword"]
        assert one.vector_rank is None
        assert one.fused[0].points == pytest.approx(one.passage.hybrid_score)


async def test_nothing_found_is_an_explanation_of_nothing() -> None:
    """No candidates, no passages, no division by none."""

    async def empty(text: str, labels: tuple[str, ...]) -> Found:
        return Found("v1", [], [], passage)

    found = await explain(INTENT, search=empty, ranking=LINEAR)
    assert (found.passages, found.candidates) == ((), 0)
