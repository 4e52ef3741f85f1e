"""The keyword index: finds by words, tells the same to everyone who sees the same."""

import math
import multiprocessing
import random
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.corpus.keyword import Analysis, Hit, KeywordIndex, Row, Weights, build

ALL = ("public",)
Make = Callable[..., KeywordIndex]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Builds and opens an index."""
    numbers = count()

    def made(rows: Iterable[Row], analysis: Analysis | None = None) -> KeywordIndex:
        folder = tmp_path_factory.mktemp(f"index{next(numbers)}")
        build(folder, rows, analysis)
        return KeywordIndex.open(folder)

    return made


def rows_of(*texts: str, labels: tuple[str, ...] = ALL, first: int = 0) -> list[Row]:
    return [Row(first + at, text, labels=labels) for at, text in enumerate(texts)]


def found(index: KeywordIndex, text: str, k: int = 10, labels: tuple[str, ...] = ALL) -> list[int]:
    return [hit.ordinal for hit in index.search(text, labels, k)]


def synthetic(size: int, labels: tuple[str, ...] = ALL, seed: int = 1) -> list[Row]:
    """Passages of 5 to 30 words, common ones more often."""
    dice = random.Random(seed)
    words = [f"w{number}" for number in range(300)]
    odds = [1 / rank for rank in range(1, 301)]
    return rows_of(
        *(" ".join(dice.choices(words, odds, k=dice.randint(5, 30))) for _ in range(size)),
        labels=labels,
    )


def naive(rows: list[Row], terms: list[str], k: int, weights: Weights) -> list[Hit]:
    """BM25 of whole texts, straight from its formula."""
    texts = [row.text.split() for row in rows]
    mean = sum(map(len, texts)) / len(texts)
    hits = []
    for row, text in zip(rows, texts, strict=True):
        score = 0.0
        for term in terms:
            having = sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            tf = text.count(term)
            norm = 1 - weights.b + weights.b * len(text) / mean
            score += idf * tf * (weights.k1 + 1) / (tf + weights.k1 * norm)
        if score > 0:
            hits.append(Hit(row.ordinal, score))
    return sorted(hits, key=lambda hit: (-hit.score, hit.ordinal))[:k]


@pytest.mark.parametrize("weights", [Weights(), Weights(k1=0.9, b=0.4), Weights(k1=2.0, b=0.0)])
def test_scores_are_those_of_the_formula(make: Make, weights: Weights) -> None:
    """BM25 with the k1 and b of the query, for every passage, ties by ordinal."""
    rows = synthetic(400)
    index = make(rows)
    for terms in (["w0"], ["w1", "w250"], ["w3", "w40", "w77", "w120", "w299"]):
        got = index.search(" ".join(terms), ALL, 50, weights)
        expected = naive(rows, terms, 50, weights)
        assert [hit.score for hit in got] == pytest.approx([hit.score for hit in expected])
        assert index.scores(" ".join(terms), ALL, [hit.ordinal for hit in got], weights) == {
            hit.ordinal: hit.score for hit in got
        }


def test_walking_less_of_the_lists_changes_nothing(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopping early finds the same hits, bit by bit, as scoring all."""
    index = make(synthetic(2_000))
    queries = [f"w{at} w{at * 7 % 300} w{at % 5} w0" for at in range(60)]
    whole = [index.search(query, ALL, 10) for query in queries]
    monkeypatch.setattr("groundwire.corpus.keyword.scoring.LONG", 0)
    assert [index.search(query, ALL, 10) for query in queries] == whole


@settings(max_examples=25, deadline=None)
@given(
    hidden=st.lists(st.text("wx 0123", max_size=30), max_size=30),
    query=st.lists(st.integers(0, 299), min_size=1, max_size=6),
)
def test_hidden_passages_leave_no_trace(make: Make, hidden: list[str], query: list[int]) -> None:
    """Any number of passages that labels hide: every score stays, bit by bit."""
    mine = [
        *synthetic(30, labels=("a",)),
        *rows_of("w0 w1 w250 of both", labels=("b", "a"), first=30),
    ]
    secret = rows_of(*hidden, labels=("b",), first=100)
    secret += rows_of(*hidden, labels=(), first=200)
    text = " ".join(f"w{number}" for number in query)
    with_hidden, alone = make([*secret, *mine]), make(mine)
    assert with_hidden.search(text, ["a"], 10) == alone.search(text, ["a"], 10)
    assert with_hidden.explain(text, ["a"], 30) == alone.explain(text, ["a"], 30)
    assert with_hidden.idf("w0", ["a"]) == alone.idf("w0", ["a"])


def test_two_tenants_see_their_own(make: Make) -> None:
    """A passage of another's label is neither found nor scored nor counted."""
    index = make(
        [
            Row(0, "refund policy", labels=("acme",)),
            Row(1, "refund policy", labels=("zeta",)),
            Row(2, "refund policy", labels=("acme", "zeta")),
        ]
    )
    assert found(index, "refund", labels=("acme",)) == [0, 2]
    assert found(index, "refund", labels=("zeta",)) == [1, 2]
    assert found(index, "refund", labels=("acme", "zeta")) == [0, 1, 2]
    assert found(index, "refund", labels=("nobody",)) == []
    assert found(index, "refund", labels=()) == []
    assert list(index.scores("refund", ["acme"], [0, 1, 2])) == [0, 2]
    assert index.document_frequency("refund", ["acme"]) == 2
    assert index.explain("refund", ["acme"], 1) == []


def test_a_thousand_tenants_cost_no_more_files(make: Make) -> None:
    """Every tenant finds its own passages; who may see many sees them as one corpus."""
    rows = [Row(at, f"lease number {at}", labels=(f"t{at % 1000}",)) for at in range(3_000)]
    index = make(rows)
    assert found(index, "lease", labels=("t7",)) == [7, 1007, 2007]
    every_other = tuple(f"t{at}" for at in range(0, 1000, 2))
    alone = make([row for row in rows if row.ordinal % 2 == 0])
    assert index.search("lease 42", every_other, 20) == alone.search("lease 42", every_other, 20)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """The same rows give the same bytes, in whatever order they come."""
    rows = synthetic(200) + rows_of("one", "two", labels=("b",), first=500)
    build(tmp_path / "one", rows)
    build(tmp_path / "two", reversed(rows))
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def _asked(folder: Path, queries: list[str]) -> list[list[Hit]]:
    index = KeywordIndex.open(folder)
    return [index.search(query, ALL, 10) for query in queries]


def test_eight_processes_answer_as_one(tmp_path: Path) -> None:
    """The same query gives the same hits, scores and order in every process."""
    build(tmp_path, synthetic(500))
    queries = [f"w{at} w{at + 50}" for at in range(20)]
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        answers = pool.starmap(_asked, [(tmp_path, queries)] * 8)
    assert all(answer == _asked(tmp_path, queries) for answer in answers)


@pytest.mark.parametrize("query", ["", "   ", "the of and to", "🦊", ': " ( { \\ AND -', "…"])
def test_no_evidence_finds_nothing(make: Make, query: str) -> None:
    """Stop words, signs and an emoji are not terms; zero evidence is zero passages."""
    assert found(make(rows_of("the fox and the hound", "of mice")), query) == []


def test_signs_are_not_syntax(make: Make) -> None:
    """What query languages treat as operators finds its words and nothing else."""
    index = make(rows_of("cats and dogs", "text dogs", "birds"))
    for query in ('text:dogs AND -cats"', "(dogs OR", "dogs*", "dogs~2^9", "NOT [dogs TO cats}"):
        assert set(found(index, query)) >= {0, 1}, query
    assert 2 not in found(index, "-dogs NOT cats")


def test_a_rare_term_outranks_a_common_one(make: Make) -> None:
    """Who has the rare term comes first, also after the common term's passages were removed."""
    rows = rows_of("common one", "rare two", "common three", "common four", "rare common")
    assert found(make(rows), "common rare")[:2] == [4, 1]
    assert found(make([row for row in rows if row.ordinal != 3]), "common rare")[:2] == [4, 1]


def test_a_long_query_is_answered(make: Make) -> None:
    """8,000 characters are words like any others."""
    query = " ".join(f"w{at % 300}" for at in range(2_000))[:8_000]
    assert len(found(make(synthetic(100)), query, 5)) == 5
    assert found(make(synthetic(10)), "x" * 8_000) == []


def test_k_above_the_corpus_finds_all_that_match(make: Make) -> None:
    """Fewer than k are fine; a passage without a term is not among them."""
    assert found(make(rows_of("cat", "dog", "cat")), "cat", 1_000) == [0, 2]
    assert found(make(rows_of("cat")), "cat", 0) == []


def test_small_corpora(make: Make) -> None:
    """One passage is found, none finds nothing."""
    assert found(make(rows_of("cat")), "cat") == [0]
    assert found(make([]), "cat") == []
    assert make([]).scores("cat", ALL, [0]) == {}
    assert found(make(rows_of("", "the")), "the cat") == []


def test_equal_passages_score_equally(make: Make) -> None:
    """Ties go to the lower ordinal, also where k cuts them."""
    index = make([*rows_of("dog"), *reversed(rows_of(*["cat nap"] * 20, first=5))])
    hits = index.search("cat", ALL, 7)
    assert [hit.ordinal for hit in hits] == list(range(5, 12))
    assert len({hit.score for hit in hits}) == 1


def test_a_term_of_every_passage_still_counts(make: Make) -> None:
    """Its idf is small, but above 0."""
    hits = make(rows_of("cat", "cat cat", "cat dog")).search("cat", ALL, 10)
    assert [hit.ordinal for hit in hits] == [1, 0, 2]
    assert all(hit.score > 0 for hit in hits)


def test_accents_are_folded(make: Make) -> None:
    """With or without accents, composed or not, lower or upper case."""
    index = make(rows_of("Café Zürich", "une cafe\u0301", "Ærø", "ＦＵＬＬ width"))
    for query in ("cafe", "CAFÉ", "cafe\u0301"):
        assert set(found(index, query)) == {0, 1}, query
    assert found(index, "zurich") == [0]
    assert found(index, "aero") == [2]
    assert found(index, "full") == [3]


def test_unspaced_scripts_are_found_by_bigrams(make: Make) -> None:
    """Chinese, Japanese and Korean, also beside Latin words, also by one character."""
    index = make(rows_of("退款政策适用于年度订阅", "年度报告 PDF", "東京タワー", "환불 정책"))
    assert found(index, "退款") == [0]
    assert found(index, "年度")[:2] == [1, 0]
    assert found(index, "款") == [0]
    assert found(index, "pdf") == [1]
    assert found(index, "タワー") == [2]
    assert found(index, "환불정책") == [3]


def test_half_a_surrogate_pair_is_no_error(make: Make) -> None:
    """Text that no UTF-8 can hold is read as if it had a replacement character."""
    assert found(make(rows_of("cat \ud83e nap")), "cat \ud83e") == [0]


def test_words_are_stemmed_in_the_language_that_was_chosen(make: Make) -> None:
    """English by default; stop words are the language's or one's own."""
    assert found(make(rows_of("cancelling subscriptions")), "cancel subscription") == [0]
    german = Analysis("german")
    assert found(make(rows_of("die Häuser und Gärten"), german), "Haus die") == [0]
    assert found(make(rows_of("die Häuser und Gärten"), german), "und die") == []
    assert found(make(rows_of("who is it"), Analysis(stop_words=())), "is") == [0]
    assert found(make(rows_of("who is it"), Analysis(stop_words=("Who",))), "who") == []


def test_fields_count_what_the_query_says(make: Make) -> None:
    """A title or heading counts with its boost, chosen per query."""
    index = make(
        [
            Row(0, "thirty days", title="Refunds", labels=ALL),
            Row(1, "refunds", headings=("Annual", "Plans"), labels=ALL),
        ]
    )
    hits = index.search("refund annual", ALL, 10, Weights(title=0.0))
    assert [hit.ordinal for hit in hits] == [1]
    hits = index.search("refund annual", ALL, 10, Weights(title=5.0, headings=0.1))
    assert [hit.ordinal for hit in hits] == [0, 1]
    parts = index.explain("refund annual", ALL, 1, Weights(title=5.0, headings=0.1))
    assert [(one.term, one.field, one.count) for one in parts] == [
        ("refund", "text", 1),
        ("annual", "headings", 1),
    ]
    assert sum(one.score for one in parts) == hits[1].score


def test_a_repeated_ordinal_is_refused(tmp_path: Path) -> None:
    """Two passages under one name could not be told apart."""
    with pytest.raises(ValueError, match="twice"):
        build(tmp_path, [Row(1, "a"), Row(1, "b")])
