"""What a corpus is about: learned from its own sentences, set without a labelled question, blind to what is hidden."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire.corpus import Document, Snapshot, chunk, snapshot_of
from groundwire.corpus.chunking import Chunking
from groundwire.corpus.keyword.analysis import Analysis, Analyzer
from groundwire.corpus.scope import ScopeModel, ScopePart
from groundwire.corpus.scope.calibration import LEAST_KNOWN, threshold
from groundwire.corpus.scope.counting import counted
from groundwire.corpus.scope.files import Calibration, write_words
from groundwire.corpus.scope.terms import TermCounts

STOP = ("the", "a", "is", "of", "my", "what", "how", "do", "i", "to", "in", "will", "it")
PUBLIC = ("public",)
TOPICS = {
    "Paper": "The paper of a poster is heavy. A flyer is printed on light paper. Poster paper is matt or glossy. "
    "Heavy paper can not be folded.",
    "Delivery": "A parcel with printed flyers arrives within three days. Heavy posters are sent rolled in a parcel. "
    "Delivery of a parcel to an island takes longer.",
    "Colours": "Colours of a poster are printed in four inks. Matt paper makes printed colours darker. "
    "A flyer in one colour is cheaper to print.",
    "Files": "Send posters as a file with embedded fonts. A file with wrong colours is printed as it is. "
    "We check the file of a flyer before it is printed.",
}


class Words:
    """A vector of hashed words: texts are near when they share some."""

    model_id = "words"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.full((len(texts), self.dimensions), 1e-6, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").replace("?", " ").split():
                if word not in STOP:
                    row[int(hashlib.sha256(word.encode()).hexdigest()[:8], 16) % 256] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)

    def unknown(self, texts: Sequence[str]) -> int:
        return len(set(texts))

    def keep(self, texts: Sequence[str]) -> None: ...


def documents(labels: tuple[str, ...] = PUBLIC) -> list[Document]:
    return [
        chunk(Document(f"{n}.md", name, f"{n}.md", text, labels), Chunking("structure", 300))
        for n, (name, text) in enumerate(TOPICS.items())
    ]


@pytest.fixture
def snapshot() -> Snapshot:
    return snapshot_of(documents())


def made(part: ScopePart, snapshot: Snapshot, folder: Path) -> ScopeModel:
    assert part.build(folder, snapshot, None, lambda step: None) == snapshot.counts.passages
    return ScopeModel.open(folder)


def near(model: ScopeModel, text: str, labels: tuple[str, ...] = PUBLIC) -> bool:
    return model.by_vector(text, Words().embed([text])[0], labels).is_enough


def test_most_of_what_is_known_reaches_the_threshold() -> None:
    """The 2 % quantile from below: 98 of 100 are kept, none of it a constant."""
    known = np.arange(100, dtype=np.float64)
    assert (known >= threshold(known, np.zeros(3))).sum() >= 98
    assert threshold(known, np.zeros(3)) > 0


def test_where_little_is_known_what_is_foreign_sets_the_threshold() -> None:
    """It lies above 95 of 100 foreign ones, and never at 0."""
    foreign = np.linspace(0.0, 1.0, 101)
    enough = threshold(np.ones(LEAST_KNOWN - 1), foreign)
    assert (foreign < enough).mean() >= 0.95
    assert threshold(np.empty(0), np.zeros(5)) > 0


def test_rare_words_that_no_document_uses_cost_the_most() -> None:
    """Coverage is a share of idf, of passages in sight alone."""
    terms = TermCounts()
    for words, labels in ((["paper", "ink"], ("public",)), (["paper", "salary"], ("staff",))):
        terms.add(words, labels)
    assert terms.coverage(["paper"], ["public"]) == 1.0
    assert terms.coverage(["salary"], ["public"]) == 0.0
    assert terms.coverage(["salary"], ["staff"]) == 1.0
    assert 0.0 < terms.coverage(["paper", "volcano"], ["public"]) < 0.5
    assert terms.coverage([], ["public"]) == 0.0
    assert terms.coverage(["ink"], ["public"], without=1) == 0.0


def test_a_question_about_the_documents_is_near_and_a_foreign_one_is_not(
    snapshot: Snapshot, tmp_path: Path
) -> None:
    """Without a labelled question, by vectors and by words alone."""
    model = made(ScopePart(STOP, Words(), Words()), snapshot, tmp_path / "m")
    assert near(model, "How heavy is the paper of a poster?")
    assert not near(model, "Who won the football match yesterday?")
    assert model.by_words("How heavy is the paper of a poster?", PUBLIC).is_enough
    assert not model.by_words("Who won the football match yesterday?", PUBLIC).is_enough


def test_without_an_embedder_words_alone_decide(snapshot: Snapshot, tmp_path: Path) -> None:
    """The model says so: it has no model_id and one calibration."""
    model = made(ScopePart(STOP), snapshot, tmp_path / "m")
    assert model.model_id is None
    assert set(model.calibrations) == {"words"}


def test_what_labels_hide_is_far(tmp_path: Path) -> None:
    """A reader learns nothing of documents that it may not see, not even what they are about."""
    model = made(
        ScopePart(STOP, Words(), Words()), snapshot_of(documents(("staff",))), tmp_path / "m"
    )
    text = "How heavy is the paper of a poster?"
    assert near(model, text, ("staff",))
    assert not near(model, text)
    assert model.by_words(text, PUBLIC).score == 0.0


def test_given_questions_set_the_threshold(snapshot: Snapshot, tmp_path: Path) -> None:
    """They count as known, and the part is another one then."""
    part = ScopePart(STOP, Words(), Words())
    given = replace(part, questions=tuple(f"poster paper number {n}" for n in range(60)))
    model = made(given, snapshot, tmp_path / "m")
    assert {one.known for one in model.calibrations.values()} == {60}
    assert given.how != part.how


def test_equal_documents_give_equal_bytes(snapshot: Snapshot, tmp_path: Path) -> None:
    """Nothing of a model is left to chance."""
    for name in ("a", "b"):
        made(ScopePart(STOP, Words(), Words()), snapshot, tmp_path / name)
    files = sorted(path for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files
    for file in files:
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()


def test_counts_that_are_carried_over_equal_those_of_a_fresh_count(tmp_path: Path) -> None:
    """A page removed, one changed, one shown to others, one new: nothing of what was is left, not even a zero."""
    analyzer = Analyzer(Analysis(stop_words=STOP))
    first = documents()
    before = snapshot_of(first)
    write_words(tmp_path, Calibration(0.0, 0, 0.0), counted(before, analyzer, None, None), STOP)
    changed = Document("1.md", "Delivery", "1.md", "Pigeons bring a parcel.", PUBLIC)
    fresh = Document("9.md", "Owls", "9.md", "Owls bring letters.", ("staff",))
    cut = [chunk(one, Chunking("structure", 300)) for one in (changed, fresh)]
    now = snapshot_of([*cut, replace(first[2], labels=("staff",)), first[3]])
    carried = counted(now, analyzer, before, tmp_path)
    assert carried.as_json() == counted(now, analyzer, None, None).as_json()
    gone = {term for own in carried.having.values() for term in own}
    assert not gone & set(analyzer.terms("folded glossy light"))
