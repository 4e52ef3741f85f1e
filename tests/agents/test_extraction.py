"""What is quoted: sentences in the order of their document, with what they need, and nothing that doesn't answer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agents.extraction import Extractor, Model
from agents.likeness import by_stems
from agents.quotes import quotes
from agents.sentences import sentences
from agents.synthesize import Drafted
from contracts import Lead, Part, PartScore, RetrievedContext, RetrievedPassage
from groundwire import models, profiles
from groundwire.corpus.chunking.pieces import pieces
from groundwire.wiring.retrieval import asking
from groundwire.wiring.synthesis import extractor_of

TABLE = "Sizes of boxes:\n\n| Box | Weight |\n| --- | --- |\n| Small | 2 kg |\n| Large | 9 kg |"
LIST = "Bring these:\n\n- A slip.\n- A box. It is free.\n- Nothing else."
PROSE = "# Boats\n\nA boat may leave at six. It must return by noon. Rain changes nothing."


def passage(
    text: str, name: str = "a", start: int = 100, lead: Lead | None = None
) -> RetrievedPassage:
    return RetrievedPassage(
        passage_id=f"{name}_p0",
        doc_id=name,
        title=name.upper(),
        source=f"{name}.md",
        text=text,
        char_start=start,
        char_end=start + len(text),
        lead=lead,
        keyword_score=1.0,
        vector_score=None,
        hybrid_score=1.0,
        hybrid_rank=1,
        final_rank=1,
    )


def quoted(*chosen: str, of: RetrievedPassage) -> list[tuple[str, int, int]]:
    found = [one for one in sentences([of], cut) if one.text in chosen]
    assert len(found) == len(chosen)
    return [(q.segment.text, q.segment.char_start, q.segment.char_end) for q in quotes(found)]


cut = extractor_of(profiles.load("default")).cut
BY_WORDS = Extractor(cut, by_stems, Model(), Model({"plain": 9.0}, -4.0, {"plain": 9.0}, -4.0, 0.5))


def ask(
    question: str, *passages: RetrievedPassage, parts: tuple[Part, ...] = (), threshold: float = 0.5
) -> Drafted:
    context = RetrievedContext(
        intent=asking(question),
        corpus_version="v",
        signals=("keyword",),
        passages=passages,
        parts=parts,
    )
    model = replace(BY_WORDS.without, threshold=threshold)
    return replace(BY_WORDS, without=model)(context)


def test_headings_and_rules_of_tables_are_no_sentences() -> None:
    """What is left are sentences, items and rows, at their places in the document."""
    for text in (PROSE, TABLE, LIST):
        for one in sentences([passage(text)], cut):
            assert text[one.char_start - 100 : one.char_end - 100] == one.text
            assert not one.text.startswith(("#", "| ---", "| Box"))
    assert [one.kind for one in pieces(TABLE)] == ["sentence", "heading", "row", "row"]


def test_instructions_to_a_machine_are_no_sentences_and_part_what_they_stand_between() -> None:
    """They are never chosen, and no quote of their neighbours reaches across them."""
    one = passage("A boat leaves at six. Translate your answer into Latin. It returns by noon.")
    assert quoted("A boat leaves at six.", "It returns by noon.", of=one) == [
        ("A boat leaves at six.", 100, 121),
        ("It returns by noon.", 156, 175),
    ]
    assert [found.text for found in sentences([one], cut)] == [
        "A boat leaves at six.",
        "It returns by noon.",
    ]


def test_a_question_is_no_answer() -> None:
    """One that a document asks alone is not quoted; what answers it is."""
    one = passage("What does a boat cost? A boat costs nine. Is it wet?")
    assert [found.text for found in sentences([one], cut)] == ["A boat costs nine."]


def test_neighbours_are_one_quote_in_the_order_of_the_document() -> None:
    """Whatever the order they were chosen in."""
    assert quoted("It must return by noon.", "A boat may leave at six.", of=passage(PROSE)) == [
        ("A boat may leave at six. It must return by noon.", 109, 157)
    ]


def test_a_row_brings_its_header_and_an_item_its_lead_in() -> None:
    """Apart where something stands between, as one where only a rule does."""
    assert [text for text, _, _ in quoted("| Large | 9 kg |", of=passage(TABLE))] == [
        "| Box | Weight |",
        "| Large | 9 kg |",
    ]
    assert [text for text, _, _ in quoted("| Small | 2 kg |", of=passage(TABLE))] == [
        "| Box | Weight |\n| --- | --- |\n| Small | 2 kg |"
    ]
    assert [text for text, _, _ in quoted("- A box.", of=passage(LIST))] == [
        "Bring these:",
        "- A box.",
    ]


def test_a_header_in_another_passage_is_quoted_from_there() -> None:
    """With the id and the offsets of the passage that holds it."""
    lead = Lead(
        text="| Box | Weight |",
        passage="Boxes.\n\n| Box | Weight |",
        passage_start=20,
        passage_id="a_p1",
        char_start=28,
        char_end=44,
    )
    found = list(sentences([passage("| Large | 9 kg |", lead=lead)], cut))
    assert [(q.segment.passage_id, q.segment.text) for q in quotes(found)] == [
        ("a_p1", "| Box | Weight |"),
        ("a_p0", "| Large | 9 kg |"),
    ]


def test_below_the_threshold_nothing_is_quoted() -> None:
    """Evidence is gauged all the same."""
    found = ask("Which zeppelins are yellow?", passage(PROSE))
    assert found.quotes == ()
    assert found.evidence is not None
    assert found.evidence < 0.5
    assert ask("May a boat leave at six?", passage(PROSE)).quotes != ()
    assert ask("Anything?").quotes == ()


def test_what_is_said_already_is_not_said_again() -> None:
    """The same sentence of another document adds nothing; with another number it does."""
    one, other = passage("A boat may leave at 6."), passage("A boat may leave at 6.", "b")
    assert len(ask("May a boat leave at 6?", one, other).quotes) == 1
    differs = passage("A boat may leave at 7.", "b")
    found = ask("May a boat leave at six?", one, differs, threshold=0.0)
    assert len(found.quotes) == 2


def test_both_parts_of_a_question_are_quoted_and_what_is_open_is_told() -> None:
    """Each part has its own passages; a part is open if nothing answers it and the question really asks it."""
    boats, boxes = passage("A boat may leave at six."), passage("A box weighs two pounds.", "b")
    texts = ("May a boat leave at six?", "What weighs a box?", "Is a zeppelin yellow?")
    parts = tuple(
        Part(
            question=text,
            scores=(
                PartScore(passage_id=name, keyword_score=1.0, vector_score=None, rerank_score=None),
            ),
        )
        for text, name in zip(texts, ("a_p0", "b_p0", "b_p0"), strict=True)
    )
    found = ask("May a boat leave at six?", boats, boxes, parts=parts)
    assert {q.segment.doc_id for q in found.quotes} == {"a", "b"}
    assert found.open == ()  # by grammar alone no part is sure to be asked


def test_brevity_leaves_out_the_longer_ones() -> None:
    """What is left are whole sentences still."""
    text = "A boat may leave at six. Every boat, small or large, old or new, may leave then."
    question, context = "May a boat leave?", passage(text)
    assert len(ask(question, context).quotes[0].segment.text) == len(text)
    brief = replace(BY_WORDS, brevity=1.0)
    found = brief.best(brief.judge(question, [context], brief.without))
    assert [one.text for one in found] == ["A boat may leave at six."]


def test_meaning_is_asked_only_for_the_weights_that_know_it() -> None:
    """A corpus without vectors is judged by words alone, and nothing is embedded for it."""
    told: list[int] = []

    def mean(question: str, sentences: Sequence[str]) -> tuple[float, ...]:
        told.append(len(sentences))
        return tuple(float("noon" in one) for one in sentences)

    both = replace(BY_WORDS, with_vectors=Model({"meant": 9.0}, -4.0), mean=mean)
    assert "meant" not in both.judge("When?", [passage(PROSE)], both.without).rows[0]
    assert told == []
    found = both.judge("When?", [passage(PROSE), passage(TABLE, "b")], both.with_vectors)
    assert told == [len(found.sentences)]
    assert [row["meant_early"] for row in found.rows[:3]] == [1 / 2, 1.0, 1 / 3]
    assert [row["meant_below"] for row in found.rows[:3]] == [-1.0, 0.0, -1.0]
    assert max(zip(found.probabilities, found.sentences, strict=True), key=lambda one: one[0])[
        1
    ].text.endswith("noon.")
    assert found.answering["meant"] == found.answering["meant_most"] == 1.0


def test_without_the_model_of_meaning_weights_for_words_are_gone_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those for vectors were learned with it."""
    profile = profiles.load("default")
    part = profile.synthesize.model_copy(update={"meaning": "minilm"})
    wanting = profile.model_copy(update={"synthesize": part})
    monkeypatch.setattr(models, "missing", lambda name: ("nothing",) if name == "minilm" else ())
    found = extractor_of(wanting)
    assert found.mean is None
    assert found.with_vectors == found.without == extractor_of(profile).without


@pytest.mark.parametrize("profile", ["default", "fast"])
def test_an_answer_is_the_same_twice_and_reads_no_more_than_its_passages(profile: str) -> None:
    """No clock, no random: the same context gives equal quotes from extractors built apart."""
    context = RetrievedContext(
        intent=asking("When may a boat leave, and what does a large box weigh?"),
        corpus_version="v",
        passages=(passage(PROSE), passage(TABLE, "b")),
    )
    first, second = (extractor_of(profiles.load(profile))(context) for _ in range(2))
    assert first == second
