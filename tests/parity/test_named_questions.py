"""Odd questions to the whole retrieve agent, words and vectors together, as profile `default` asks."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from contracts import RetrievedContext
from groundwire.models import missing
from groundwire.wiring import Handler, Intake, assemble, build_handler, ingest_corpus
from groundwire.wiring.retrieval import asking

pytestmark = pytest.mark.skipif(bool(missing("minilm")), reason="needs groundwire[vectors]")

PAGES = {
    "refunds.md": "# Refunds\n\nA refund takes five days. Ask for a refund in the settings.",
    "prices.md": "# Prices\n\nAn annual plan costs 90 euros; a café in Zürich gets the same refund.",
    "chinese.md": "# 退款政策\n\n年度订阅可以在四十五天内退款。",
    "twin-a.md": "# Harbour\n\nThe harbour opens at six.",
    "twin-b.md": "# Harbour\n\nThe harbour opens at six.",
    "staff.md": "---\nlabels: [staff]\n---\n# Refunds for staff\n\nStaff get a refund refund at once.",
}


def write(folder: Path, pages: Mapping[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text)
    return folder


def ingested(folder: Path, pages: Mapping[str, str]) -> Path:
    root = folder / "root"
    ingest_corpus(Intake([write(folder / "docs", pages)], root))
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("named"), PAGES)


@pytest.fixture(scope="module")
def retrieve(root: Path) -> Handler:
    return build_handler("retrieve", assemble("default", root))


async def ask(retrieve: Handler, question: str, *labels: str) -> RetrievedContext:
    context = await retrieve(asking(question, labels or ("public",)))
    assert isinstance(context, RetrievedContext)
    assert context.signals == ("keyword", "vectors")
    return context


def documents(context: RetrievedContext) -> list[str]:
    return [one.doc_id for one in context.passages]


def scores(context: RetrievedContext) -> list[dict[str, object]]:
    """Every score and rank, under what does not depend on what else is in the corpus."""
    return [one.model_dump() for one in context.passages]


@pytest.mark.parametrize(
    "question", ["", " ", "the of and is it", "🙂", ': " ( { \\ AND -', "xyzzy qwrtz"]
)
async def test_without_evidence_there_are_no_passages(retrieve: Handler, question: str) -> None:
    """Stop words, signs, an emoji, words that nobody wrote: nothing is filled up with the nearest."""
    assert (await ask(retrieve, question)).passages == ()


@pytest.mark.parametrize("sign", [*':"({\\-', " AND ", " NOT "])
async def test_no_character_is_syntax(retrieve: Handler, sign: str) -> None:
    """The words around it find what they find alone."""
    assert documents(await ask(retrieve, f"{sign}harbour{sign}opens{sign}"))[:2] == [
        "twin-a.md",
        "twin-b.md",
    ]


async def test_a_question_of_8000_characters_is_answered(retrieve: Handler) -> None:
    """As long as one may be; the model reads its beginning, the words count all."""
    question = ("harbour opens " * 600)[:7_990] + " refund"
    found = documents(await ask(retrieve, question))
    assert set(found) <= {"twin-a.md", "twin-b.md", "refunds.md", "prices.md"}
    assert found
    assert (await ask(retrieve, "x" * 8_000)).passages == ()


async def test_a_rare_term_decides_also_after_a_deletion(tmp_path: Path) -> None:
    """Statistics are those of the live passages: as in a corpus that never held the others."""
    common = {f"{at}.md": f"The plan number {at} has a refund." for at in range(6)}
    pages = {**common, "rare.md": "The zeppelin has a refund."}
    ingested(tmp_path, pages)
    for at in range(3):
        (tmp_path / "docs" / f"{at}.md").unlink()
    root = ingested(tmp_path, {})
    kept = {name: text for name, text in pages.items() if name not in ("0.md", "1.md", "2.md")}
    (tmp_path / "fresh").mkdir()
    fresh = ingested(tmp_path / "fresh", kept)
    found = [
        await ask(build_handler("retrieve", assemble("default", each)), "refund zeppelin")
        for each in (root, fresh)
    ]
    assert documents(found[0])[0] == "rare.md"
    assert scores(found[0]) == scores(found[1])


async def test_k_above_the_corpus_is_all_that_has_evidence(root: Path) -> None:
    """Fewer than k are fine."""
    default = assemble("default", root)
    wide = default.profile.retrieve.model_copy(update={"k": 100})
    profile = default.profile.model_copy(update={"retrieve": wide})
    found = await ask(build_handler("retrieve", assemble(profile, root)), "refund")
    assert {"refunds.md", "prices.md"} <= set(documents(found))
    assert len(found.passages) < 6
    assert [one.final_rank for one in found.passages] == list(range(1, len(found.passages) + 1))


async def test_a_corpus_of_one_document_is_found(tmp_path: Path) -> None:
    """Min-max of one score is no division by zero."""
    retrieve = build_handler(
        "retrieve", assemble("default", ingested(tmp_path, {"a.md": "Refund."}))
    )
    assert documents(await ask(retrieve, "refund")) == ["a.md"]
    assert (await ask(retrieve, "zeppelin")).passages == ()


async def test_a_corpus_without_passages_finds_nothing(tmp_path: Path) -> None:
    """A page of nothing but front matter; and one that another label opens."""
    root = ingested(tmp_path, {"a.md": "---\nlabels: [staff]\n---\nRefund."})
    retrieve = build_handler("retrieve", assemble("default", root))
    assert (await ask(retrieve, "refund")).passages == ()
    assert (await ask(retrieve, "refund", "nobody")).passages == ()


async def test_two_documents_of_the_same_text_are_both_found_with_the_same_scores(
    retrieve: Handler,
) -> None:
    """In stored order."""
    first, second = (await ask(retrieve, "When does the harbour open?")).passages[:2]
    assert (first.doc_id, second.doc_id) == ("twin-a.md", "twin-b.md")
    assert (first.keyword_score, first.vector_score) == (second.keyword_score, second.vector_score)


async def test_a_term_of_every_document_is_evidence_still(tmp_path: Path) -> None:
    """Its idf is small and above 0."""
    pages = {f"{at}.md": f"Refund {word}." for at, word in enumerate(("cat", "dog", "owl"))}
    retrieve = build_handler("retrieve", assemble("default", ingested(tmp_path, pages)))
    found = await ask(retrieve, "refund")
    assert len(found.passages) == 3
    assert all(one.keyword_score > 0.0 for one in found.passages)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("退款", "chinese.md"),
        ("年度订阅", "chinese.md"),
        ("cafe zurich", "prices.md"),
        ("CAFÉ ZÜRICH", "prices.md"),
        ("cafe\u0301", "prices.md"),
    ],
)
async def test_chinese_and_accents_are_found(retrieve: Handler, question: str, found: str) -> None:
    """By bigrams, and with or without accents, composed or not."""
    assert documents(await ask(retrieve, question))[0] == found


async def test_what_labels_hide_leaves_no_trace_in_any_score(tmp_path: Path, root: Path) -> None:
    """Another tenant's passages change no score, rank or order: as if the corpus had never held them."""
    (tmp_path / "open").mkdir()
    open_pages = {name: text for name, text in PAGES.items() if name != "staff.md"}
    alone = ingested(tmp_path / "open", open_pages)
    mixed, only = (build_handler("retrieve", assemble("default", each)) for each in (root, alone))
    for question in ("refund", "refunds for staff", "How long does a refund take?", "退款"):
        assert scores(await ask(mixed, question)) == scores(await ask(only, question))


async def test_two_tenants_see_their_own(retrieve: Handler) -> None:
    """And who is both sees both."""
    assert documents(await ask(retrieve, "refund", "staff")) == ["staff.md"]
    assert "staff.md" not in documents(await ask(retrieve, "refund"))
    both = await ask(retrieve, "refund", "staff", "public")
    assert {"staff.md", "refunds.md"} <= set(documents(both))


async def test_eight_workers_answer_as_one(root: Path, retrieve: Handler) -> None:
    """Each with indexes and a model of its own, all at the same time: bit for bit."""
    workers = [build_handler("retrieve", assemble("default", root)) for _ in range(8)]
    questions = ("refund", "When does the harbour open?", "退款")
    for question in questions:
        one = scores(await ask(retrieve, question))
        found = await asyncio.gather(*(ask(worker, question) for worker in workers))
        assert [scores(each) for each in found] == [one] * 8
