"""A classifier learned from examples, by words alone: no model is opened here."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from groundwire.intents import parse
from groundwire.intents.learned import Learned, digest_of, read, save
from groundwire.intents.linear import fit, softmax
from groundwire.intents.questions import Lesson, foreign
from groundwire.intents.teaching import taught, teach
from groundwire.intents.terms import Terms, counts_of, piece_terms, word_terms
from groundwire.intents.training import threshold

FILE = """version = 1
[[intents]]
label = "refunds"
keywords = { refund = 4, "a" = 1 }
examples = ["Can I get a refund?", "Refund my order please", "Give me my money back", "I want my money back",
  "How long does a refund take?", "Is the money back guarantee real?"]
[[intents]]
label = "cancellation"
keywords = { cancel = 3 }
examples = ["How do I cancel?", "Cancel my plan", "I want to cancel the subscription", "End my subscription now",
  "Stop the subscription", "Cancel everything today"]
[[intents]]
label = "pricing"
examples = ["How much does it cost?", "What is the price?", "Which price do I pay?", "The cost of a plan",
  "What does a seat cost?", "Price per month"]
"""


def lesson(text: str = FILE) -> Lesson:
    return Lesson.of(parse(text, "x"), keywords=True)


@pytest.fixture(scope="module")
def learned() -> Learned:
    return teach(lesson(), [])


def test_what_tells_of_a_label_is_learned_from(learned: Learned) -> None:
    """Its name, its description, keywords of half the heaviest weight or more; they make no held-out example."""
    described = FILE.replace('"pricing"', '"how_much"\ndescription = "Prices"')
    assert lesson(described).keywords == (
        ("refunds", "refunds"),
        ("refund", "refunds"),
        ("cancellation", "cancellation"),
        ("cancel", "cancellation"),
        ("how much", "how_much"),
        ("Prices", "how_much"),
    )
    assert learned.calibration.held_out == 18


def test_shares_sum_to_one_and_the_right_label_wins(learned: Learned) -> None:
    """Of questions that no example repeats."""
    texts = ["a refund of my money", "cancel it", "the price of a seat", "zebra"]
    shares, _ = learned.judge(texts, [])
    assert np.allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    won = [learned.names[place] for place in shares.argmax(axis=1)]
    assert won[:3] == ["refunds", "cancellation", "pricing"]


def test_the_threshold_keeps_the_chosen_share_of_held_out_examples(learned: Learned) -> None:
    """Calibrated, not written down: a higher aim gives a lower threshold."""
    found = learned.calibration
    assert found.kept is not None
    assert found.kept >= found.keep == 0.95
    half = teach(lesson(FILE.replace("version = 1", "version = 1\nkeep = 0.5")), [])
    assert half.calibration.threshold > found.threshold


def test_where_foreign_questions_are_far_below_the_threshold_lies_between() -> None:
    """A few examples are nearer to one another than what people ask; a foreign world that is near lowers nothing."""
    held = np.arange(100, dtype=np.float32)
    assert threshold(held, 0.95, held[:0]) == 4.0
    assert threshold(held, 0.95, held - 105) == pytest.approx((4 - 15) / 2)
    assert threshold(held, 0.95, held) == 4.0


def test_errors_to_expect_are_measured(learned: Learned) -> None:
    """Foreign questions come with the product, near ones are those of a label left out."""
    assert len(foreign()) >= 50
    assert learned.calibration.foreign is not None
    assert learned.calibration.near is not None
    _, margins = learned.judge(["What's the weather like?", "Can I get a refund?"], [])
    assert margins[0] < margins[1]


def test_a_few_examples_that_are_all_right_make_nobody_sure() -> None:
    """Smoothed targets: the temperature doesn't run to its end."""
    tiny = teach(lesson(FILE), [])
    assert tiny.calibration.temperature > 0.1


def test_the_same_lesson_gives_the_same_classifier(learned: Learned) -> None:
    """No chance: folds are seeded."""
    again = teach(lesson(), [])
    assert again.calibration == learned.calibration
    assert np.array_equal(again.model.linear.weights, learned.model.linear.weights)


def test_a_label_with_one_example_is_learned() -> None:
    """It can't be held out, and it is still found."""
    one = FILE + '[[intents]]\nlabel = "export"\nexamples = ["Download a spreadsheet"]\n'
    found = teach(lesson(one), [])
    shares, _ = found.judge(["download a spreadsheet"], [])
    assert found.names[int(shares[0].argmax())] == "export"


def test_a_single_label_is_learned() -> None:
    """Nothing to choose between: only nearness tells what is in scope."""
    alone = FILE[: FILE.index('[[intents]]\nlabel = "cancellation"')]
    found = teach(lesson(alone), [])
    shares, margins = found.judge(["Can I get a refund?", "zebra"], [])
    assert shares.tolist() == [[1.0], [1.0]]
    assert margins[0] > 0 > margins[1]
    assert found.calibration.near is None


def test_labels_of_one_example_each_are_learned() -> None:
    """Nothing can be held out; that is no error."""
    text = "version = 1\n" + "".join(
        f'[[intents]]\nlabel = "{name}"\nexamples = ["{name} please"]\n' for name in ("one", "two")
    )
    shares, _ = teach(lesson(text), []).judge(["two please"], [])
    assert shares[0].argmax() == 1


def test_what_is_saved_is_read_again(learned: Learned, tmp_path: Path) -> None:
    """Number by number."""
    path = tmp_path / "kept.npz"
    save(learned, path)
    again = read(path)
    assert again is not None
    assert again.calibration == learned.calibration
    texts = ["cancel it", "zebra"]
    for one, other in zip(again.judge(texts, []), learned.judge(texts, []), strict=True):
        assert np.array_equal(one, other)
    assert [file.name for file in path.parent.iterdir()] == ["kept.npz"]


def test_a_corpus_that_was_removed_meanwhile_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was learned is used, and kept nowhere: a temporary system leaves no folder behind."""
    root = tmp_path / "root"

    def removed(*_: object) -> Learned:
        shutil.rmtree(root)
        return teach(lesson(), [])

    monkeypatch.setattr("groundwire.intents.teaching.teach", removed)
    assert taught(lesson(), [], root).names
    assert not root.exists()


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not whole", b"not a zip"])
def test_a_damaged_file_is_trained_again(tmp_path: Path, damage: bytes) -> None:
    """A cache is never trusted to be whole."""
    taught(lesson(), [], tmp_path)
    (path,) = tmp_path.rglob("*.npz")
    path.write_bytes(damage)
    assert read(path) is None
    assert taught(lesson(), [], tmp_path).names == ("refunds", "cancellation", "pricing")
    assert read(path) is not None


def test_another_lesson_is_kept_under_another_name(tmp_path: Path) -> None:
    """By the digest of all that its numbers depend on; old ones are dropped."""
    taught(lesson(), [], tmp_path)
    taught(lesson(FILE.replace("Cancel my plan", "Cancel our plan")), [], tmp_path)
    assert len(list(tmp_path.rglob("*.npz"))) == 2
    assert digest_of({"a": 1}) != digest_of({"a": 2})


def test_the_linear_model_finds_the_optimum() -> None:
    """Its slope is zero there, in the space of the rows as in that of the columns."""
    random = np.random.default_rng(1)
    labels = np.arange(60) % 3
    for columns in (5, 200):
        rows = (random.normal(size=(60, columns)) + labels[:, None]).astype(np.float32)
        found = fit(rows, labels, 3, steps=500)
        shares = softmax(found.logits(rows))
        shares[np.arange(60), labels] -= 1
        slope = rows.T @ shares / 60 + found.weights / 60
        assert np.abs(slope).max() < 5e-3


def test_terms_are_words_pairs_and_pieces() -> None:
    """What is counted, and that an odd text has a row too."""
    assert word_terms("The cat sat") == ["the", "cat", "sat", "the cat", "cat sat"]
    assert piece_terms("ab") == [" a", "ab", "b ", " ab", "ab ", " ab "]
    counts = counts_of(["", "🙂", "\ud800x", "a " * 4_000])
    assert np.isfinite(Terms.of(counts).rows(counts)).all()
