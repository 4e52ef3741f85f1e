"""Our own questions are genuine: answered by a passage of the documents, in other words than theirs."""

import hashlib
import os
from pathlib import Path

import pytest

from groundwire.evals.questions import Asked, answers, basecamp, faults, halves, shared_runs

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / os.environ.get("GROUNDWIRE_DATA", "../shared/data") / "basecamp"
TEXT = "# Parcels\n\nA lost parcel is replaced within two weeks."


def asked(question: str, start: int = 11, end: int = 53) -> Asked:
    answer = TEXT[start:end]
    return Asked(question, "a.md", start, end, hashlib.sha256(answer.encode()).hexdigest())


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_a_question_in_other_words_with_its_answer_in_place_has_no_fault(documents: Path) -> None:
    """Two shared words in a row are allowed."""
    assert faults([asked("Is every lost parcel sent again?")], documents) == []


def test_three_words_in_a_row_of_the_documents_are_a_fault(documents: Path) -> None:
    """Case, punctuation and line ends don't hide them."""
    (found,) = faults([asked("Will a new one come WITHIN, two\nweeks?")], documents)
    assert "'within two weeks' is taken" in found


def test_an_answer_that_is_not_at_its_place_is_a_fault(documents: Path) -> None:
    """The digest says that the place still holds what answered."""
    moved = Asked("Is every lost parcel sent again?", "a.md", 11, 53, "0" * 64)
    elsewhere = Asked("Is every lost parcel sent again?", "b.md", 11, 53, "0" * 64)
    assert [len(faults([one], documents)) for one in (moved, elsewhere)] == [1, 1]


def test_a_half_of_the_questions_calibrates_and_the_other_reports() -> None:
    """No question does both, and the seed alone decides."""
    questions = basecamp()
    calibrates, reports = halves(questions)
    assert len(questions) >= 200
    assert abs(len(calibrates) - len(reports)) <= 1
    assert set(calibrates) | set(reports) == set(questions)
    assert not set(calibrates) & set(reports)
    assert halves(questions[::-1]) == (calibrates, reports)
    assert halves(questions, seed=7) != (calibrates, reports)


@pytest.mark.skipif(not POLICIES.is_dir(), reason=f"no policies at {POLICIES}: set GROUNDWIRE_DATA")
def test_no_question_about_the_policies_takes_their_words() -> None:
    """Every question is answered where it says, and shares no three words in a row with any document."""
    questions = basecamp()
    assert faults(questions, POLICIES) == []
    assert len({one.question for one in questions}) == len(questions)


def test_cases_are_in_other_words_than_documents_and_configurations() -> None:
    """No three words in a row are from its pages, any intents or a profile; the quotes that it needs are there."""
    configured = [*(ROOT / "groundwire").rglob("*.toml"), *(ROOT / "examples").rglob("*.toml")]
    texts = {path: path.read_text(encoding="utf-8") for path in configured}
    assert len(answers()) >= 24
    for case in answers():
        pages = sorted((ROOT / "examples" / case.documents).glob("*.md"))
        told = {page: page.read_text(encoding="utf-8") for page in pages}
        for path, text in {**texts, **told}.items():
            assert shared_runs(case.question, text) == [], path
        plain = " ".join(" ".join(told.values()).split())
        assert all(need in plain for alternatives in case.needs for need in alternatives)
