"""What tells for a passage, beside its fused score."""

import pytest

from agents.ranking import Ranking, fuse
from agents.reranking import Candidate, features, weighed
from agents.retrieve import Found, FoundPassage, look_again, retrieve, shortlist
from agents.tokens import Analyzer
from contracts import Intent, Query

ANALYZE = Analyzer(frozenset({"the", "a"}), stems=True)


def candidate(
    text: str, heading: str = "", keyword: float = 0.0, vector: float = 0.0, feedback: float = 0.0
) -> Candidate:
    return Candidate(heading, text, keyword, vector, feedback)


def pairs(question: str, *texts: str) -> list[float]:
    found = features(question, [candidate(text) for text in texts], ANALYZE)
    return [each.pairs for each in found]


def test_neighbours_in_order_tell_most() -> None:
    """Then those with words between, then those the other way round, then those apart."""
    apart = "fox " + "word " * 12 + "red"
    found = pairs("a red fox", "the red foxes", "a red old fox", "fox red", apart, "neither")
    assert found == sorted(found, reverse=True)
    assert found[:3] == [1.0, 0.5, 0.5]
    assert found[3:] == [0.0, 0.0]


def test_rare_pairs_weigh_most() -> None:
    """Among the candidates themselves: nothing else is known."""
    common, rare = pairs("red fox night owl", "red fox", "night owl red fox", "red fox")[:2]
    assert rare > common > 0.0


def test_numbers_of_the_question_are_looked_for_in_heading_and_text() -> None:
    """The share that is there; 0 for all when the question has none."""
    both = [candidate("30 days", heading="Plan 2"), candidate("days")]
    assert [each.numbers for each in features("2 of 30 days", both, ANALYZE)] == [1.0, 0.0]
    assert [each.numbers for each in features("days", both, ANALYZE)] == [0.0, 0.0]


def test_keyword_scores_are_shares_of_the_best() -> None:
    """BM25 has no scale of its own; cosines have."""
    found = features(
        "x", [candidate("x", keyword=8, vector=0.5), candidate("x", keyword=2)], ANALYZE
    )
    assert [(each.keyword, each.vector) for each in found] == [(1.0, 0.5), (0.25, 0.0)]


@pytest.mark.parametrize("question", ["", "the", "🙂", '": ( { \\ AND -'])
def test_a_question_without_terms_has_features(question: str) -> None:
    """All 0 that speak of terms."""
    assert pairs(question, "a text") == [0.0]
    assert features(question, [], ANALYZE) == []


def test_a_feature_without_a_weight_counts_nothing() -> None:
    """A profile names those that it wants."""
    (found,) = features("x", [candidate("x", vector=0.5, feedback=0.25)], ANALYZE)
    assert weighed(found, {"vector": 2.0}) == 1.0
    assert weighed(found, {}) == 0.0


def test_reciprocal_ranks_don_t_see_how_far_apart_scores_are() -> None:
    """1 / (60 + rank), and 0 for what was not found."""
    assert fuse([9.0, 1.0, 0.0], [0.0, 0.0, 0.0], 1.0, "rrf") == [1 / 61, 1 / 62, 0.0]


INTENT = Intent(
    query=Query(text="red fox", session_id="s"),
    cleaned_text="red fox",
    label="x",
    confidence=1,
    category_scores={"x": 1},
    in_scope=True,
)
TEXTS = ("fox red", "an old fox", "a red fox", "night")


async def search(text: str, labels: tuple[str, ...]) -> Found:
    def passage(position: int) -> FoundPassage:
        body = TEXTS[position]
        return FoundPassage(f"p{position}", "d", "D", "d.md", (), body, 0, len(body))

    def alike(positions: object) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    return Found("v1", [3.0, 2.0, 1.0, 0.0], [0.6, 0.5, 0.4, 0.2], passage, alike)


async def test_linear_reranking_looks_deeper_than_what_is_kept() -> None:
    """The third by fusion comes first by its pairs, and shows from where."""
    ranking = Ranking(
        k=2, rerank="linear", weights={"pairs": 1.0}, analyze=ANALYZE, keep_unsupported=False
    )
    context = await retrieve(INTENT, search=search, ranking=ranking)
    assert [(p.passage_id, p.hybrid_rank, p.final_rank) for p in context.passages] == [
        ("p2", 3, 1),
        ("p0", 1, 2),
    ]


async def test_below_the_depth_the_fused_order_stays() -> None:
    """However much would have told for them."""
    ranking = Ranking(k=3, rerank="linear", depth=1, weights={"pairs": 1.0}, analyze=ANALYZE)
    context = await retrieve(INTENT, search=search, ranking=ranking)
    assert [p.passage_id for p in context.passages] == ["p0", "p1", "p2"]


@pytest.mark.parametrize(("least", "kept"), [(None, 3), (0.3, 3), (0.2, 4)])
async def test_a_near_vector_is_evidence_where_the_profile_says_so(
    least: float | None, kept: int
) -> None:
    """Else only a term of the question is."""
    ranking = Ranking(k=9, keep_unsupported=False, least_cosine=least)
    context = await retrieve(INTENT, search=search, ranking=ranking)
    assert len(context.passages) == kept


@pytest.mark.parametrize(("documents", "share"), [("abcd", 1.0), ("aaaa", 0.25)])
def test_passages_of_one_document_are_no_more_relevant_for_being_alike(
    documents: str, share: float
) -> None:
    """Likeness to the best counts as far as the candidates are of different documents."""

    def passage(position: int) -> FoundPassage:
        return FoundPassage(f"p{position}", documents[position], "D", "d.md", (), "fox", 0, 3)

    found = Found("v1", [3.0, 2.0, 1.0, 0.5], [0.6, 0.5, 0.4, 0.2], passage, lambda _: [0.8] * 4)
    ranking = Ranking(rerank="linear", k=4, analyze=ANALYZE)
    told = look_again("fox", found, shortlist(found, ranking), ranking)
    assert [each.feedback for each in told] == [0.8 * share] * 4
