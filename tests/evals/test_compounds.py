"""Compound questions to develop on are two real ones, told apart, found and answered by what is measured."""

import json
from pathlib import Path

from groundwire import profiles
from groundwire.evals import compounds
from groundwire.evals.answersets import Answerable, AnswerSet
from groundwire.evals.collection import Entry
from groundwire.evals.joining import FORMS, Joined, are_apart, joined, pairs

STOP_WORDS = frozenset(("what", "is", "the", "who", "a"))


def test_each_question_is_paired_once_with_one_that_is_apart() -> None:
    """Seeded: the same pairs again."""
    asked = ["a1", "a2", "b1", "b2", "c1"]
    found = pairs(asked, lambda one: one[0])
    assert found == pairs(asked, lambda one: one[0])
    used = [one for pair in found for one in pair]
    assert len(used) == len(set(used)) == 4
    assert all(one[0] != two[0] for one, two in found)


def test_every_form_is_used_in_turn_and_a_common_lead_is_left_out() -> None:
    """Names keep their capitals."""
    texts = [("Who pays?", "When is it due?")] * len(FORMS)
    assert {one.form for one in joined(texts)} == set(FORMS)
    (shared,) = joined([("What is the price?", "What is the limit of Ada?")])
    assert (shared.text, shared.form) == ("What is the price and limit of Ada?", "shared and")


def test_parts_are_apart_when_each_holds_the_words_of_one_question() -> None:
    """A part that holds both is neither."""
    both = Joined("", "What is the price?", "Who may cancel a plan?", "and")
    assert are_apart(["what is the price", "who may cancel a plan"], both, STOP_WORDS)
    assert not are_apart(["what is the price and who may cancel a plan"], both, STOP_WORDS)
    assert not are_apart([], both, STOP_WORDS)


async def test_a_set_is_measured_by_both_passages_and_both_answers(tmp_path: Path) -> None:
    """By words alone, over two passages of which each answers one."""
    profile = profiles.load("default")
    words = profile.retrieve.model_copy(update={"embedder": "none"})
    profile = profile.model_copy(update={"retrieve": words})
    texts = ("The red ferry leaves at six.", "Captain Ada steers the blue tug.")
    entries = tuple(Entry(str(at), "", text) for at, text in enumerate(texts))
    questions = (
        Answerable("1", "When does the red ferry leave?", "0", ((23, 27),), "boats"),
        Answerable("2", "Who steers the blue tug?", "1", ((0, 11),), "boats"),
    )
    found = AnswerSet("boats", entries, questions, {})
    told = await compounds.measure_set(profile, found, tmp_path, lambda *_: None)
    assert (told["pairs"], told["apart"], told["found"]) == (1, 1, 1)


def test_examples_without_an_answer_are_left_out(tmp_path: Path) -> None:
    """Nothing can be quoted of them."""
    lines = [
        {"question": "Who?", "answerable": True, "doc": "a.md", "quote": "Ada."},
        {"question": "Why?", "answerable": False},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert [one.question for one in compounds.examples_in(path)] == ["Who?"]
