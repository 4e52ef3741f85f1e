"""What `bench answers` measures is what it says."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contracts import Misconfigured
from groundwire.evals import answersets
from groundwire.evals.learning import folds, is_gold
from groundwire.evals.lessons import (
    FOLDS,
    STRENGTHS,
    Table,
    learn,
    strength_of,
    strengths_without,
)
from groundwire.evals.logistic import apply, fit, probabilities


def clapnq(folder: Path) -> Path:
    """One answerable question and one that isn't, in CLAP NQ's layout."""
    (folder / "clapnq").mkdir()
    for kind, chosen in (("answerable", ["It is six ."]), ("unanswerable", [])):
        text = f"A boat ({kind}) leaves . It is six . "
        line = {
            "id": kind,
            "input": "when",
            "passages": [
                {
                    "title": "Boats",
                    "text": text,
                    "sentences": [f"A boat ({kind}) leaves .", "It is six ."],
                }
            ],
            "output": [{"answer": "", "selected_sentences": chosen}],
        }
        (folder / "clapnq" / f"clapnq_dev_{kind}.jsonl").write_text(json.dumps(line))
    return folder


def squad2(folder: Path) -> Path:
    """An answered question and an impossible one, in SQuAD's layout; the paragraph begins with a blank."""
    asked = [
        {
            "id": "1",
            "question": "When? ",
            "is_impossible": False,
            "answers": [{"text": "six", "answer_start": 18}],
        },
        {"id": "2", "question": "Why?", "is_impossible": True, "answers": []},
    ]
    paragraph = {"context": " A boat leaves at six.", "qas": asked}
    (folder / "squad2").mkdir()
    stored = {"data": [{"title": "My_boats", "paragraphs": [paragraph]}]}
    (folder / "squad2" / "dev-v2.0.json").write_text(json.dumps(stored))
    return folder


def test_chosen_sentences_are_spans_of_the_passage(tmp_path: Path) -> None:
    """All passages are pooled; a question without an answer has no span."""
    found = answersets.read(clapnq(tmp_path), "clapnq")
    (answerable, other), entry = found.questions, found.entries[0]
    assert [entry.text[slice(*span)] for span in answerable.gold] == ["It is six ."]
    assert (answerable.is_answerable, other.is_answerable) == (True, False)
    assert len(found.entries) == 2
    assert len(found.sentences[entry.entry_id]) == 2


def test_answers_are_spans_of_the_stripped_paragraph_and_folds_are_articles(tmp_path: Path) -> None:
    """Offsets follow the text; underscores of a title are blanks."""
    found = answersets.read(squad2(tmp_path), "squad2")
    answered, impossible = found.questions
    assert [found.entries[0].text[slice(*span)] for span in answered.gold] == ["six"]
    assert impossible.gold == ()
    assert folds(found) == {"My boats": 0}


def test_a_set_that_is_not_there_or_not_known_is_told(tmp_path: Path) -> None:
    """Misconfigured, not a traceback."""
    for name in ("clapnq", "squad2", "other"):
        with pytest.raises(Misconfigured):
            answersets.read(tmp_path, name)


def test_a_sentence_answers_by_half_of_it_or_by_a_whole_answer(tmp_path: Path) -> None:
    """Where people chose sentences, mostly inside one; where they chose words, all of these inside it."""
    asked = answersets.read(clapnq(tmp_path), "clapnq").questions[0]
    start, end = asked.gold[0]
    assert is_gold(asked, (asked.entry_id, start - 2, end), chosen=True)
    assert not is_gold(asked, (asked.entry_id, 0, start + 3), chosen=True)
    assert not is_gold(asked, (asked.entry_id, start, end - 1), chosen=False)
    assert not is_gold(asked, ("another", start, end), chosen=False)


def test_folds_are_seeded_and_even(tmp_path: Path) -> None:
    """The same question is in the same fold each time."""
    found = answersets.read(clapnq(tmp_path), "clapnq")
    assert folds(found) == folds(found)
    assert set(folds(found).values()) <= set(range(FOLDS))


def test_weights_are_learned_that_tell_apart() -> None:
    """A feature that decides has a weight of its sign, a constant one none; weights are of raw features."""
    rows = np.array([[0.0, 5.0], [1.0, 5.0], [10.0, 5.0], [11.0, 5.0]])
    wanted = np.array([0.0, 0.0, 1.0, 1.0])
    weights = fit(("far", "same"), rows, wanted, np.ones(4), strength=1.0)
    assert weights["far"] > 0.0
    assert weights["same"] == pytest.approx(0.0, abs=1e-9)
    likely = probabilities(apply(("far", "same"), rows, weights))
    assert likely[:2].max() < 0.5 < likely[2:].min()


def test_a_strength_is_chosen_by_what_was_not_learned_from() -> None:
    """A fold's strength is the same whatever its own rows say; rows that tell nothing want the strongest penalty."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(400, 6))
    folds_of = np.arange(400) % FOLDS
    noise = random.random(400).round()
    table = Table(tuple("abcdef"), rows, noise, folds_of, np.zeros(400, int))
    turned = np.where(folds_of == 0, 1.0 - noise, noise)
    assert strengths_without(table)[0] == strengths_without(replace(table, wanted=turned))[0]
    assert strength_of(table) == min(STRENGTHS)
    clear = replace(table, wanted=(rows[:, 0] > 0.0).astype(float))
    assert strength_of(clear) == max(STRENGTHS)
    assert learn(clear, 1.0, [1, 2])["a"] > 1.0


def test_each_set_counts_as_much() -> None:
    """However many rows it has."""
    rows = np.zeros((110, 1))
    wanted = np.r_[np.ones(10), np.zeros(100)]
    sets = np.r_[np.zeros(10, int), np.ones(100, int)]
    weights = learn(Table(("none",), rows, wanted, np.zeros(110, int), sets), 1.0)
    assert weights["bias"] == pytest.approx(0.0, abs=1e-6)


def test_a_table_without_folds_is_learned_as_its_other_rows_alone() -> None:
    """To the last bit: nothing of a fold that is left out gets in."""
    random = np.random.default_rng(2)
    rows, folds_of = random.normal(size=(60, 2)), np.arange(60) % FOLDS
    wanted, sets = random.random(60).round(), np.zeros(60, int)
    kept = folds_of != 1
    found = learn(Table(("a", "b"), rows, wanted, folds_of, sets), 0.1, [1])
    assert found == fit(("a", "b"), rows[kept], wanted[kept], np.ones(kept.sum()), 0.1)
