"""A scope model that was made at ingestion: how near a question is to the documents that its reader may see."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..keyword.analysis import Analysis, Analyzer
from ..vectors import VectorIndex
from .calibration import Similarities
from .files import Calibration, Stored, read


@dataclass(frozen=True)
class Nearness:
    """How near a question is, and how near it has to be."""

    score: float
    threshold: float

    @property
    def is_enough(self) -> bool:
        """Whether the question counts as one about the documents."""
        return self.score >= self.threshold


class ScopeModel:
    """Memory-mapped, never written. What a reader's labels don't open has no part in an answer."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._analyzer = Analyzer(Analysis(stop_words=stored.stop_words))

    @classmethod
    def open(cls, folder: Path) -> "ScopeModel":
        """A model that a ScopePart has built."""
        return cls(read(folder))

    @property
    def model_id(self) -> str | None:
        """What the vectors are of; None where there are none."""
        return self._stored.model_id

    @property
    def calibrations(self) -> dict[str, Calibration]:
        """How the gate is set, by `words` alone and, where there are vectors, by what is `near`."""
        near = {} if self._stored.near is None else {"near": self._stored.near}
        return {"words": self._stored.words} | near

    def by_words(self, text: str, labels: Iterable[str]) -> Nearness:
        """The share of the words that the documents use, by their idf. Weak: a word means several things."""
        found = self._stored.terms.coverage(self._analyzer.query_terms(text), labels)
        return Nearness(found, self._stored.words.threshold)

    def by_vector(self, text: str, vector: NDArray[np.float32], labels: Iterable[str]) -> Nearness:
        """Sentence, passage and words together; `vector` is the text's, by the model of `model_id`."""
        vectors, near = self._stored.vectors, self._stored.near
        assert vectors is not None, "the caller has looked at model_id"
        assert near is not None, "vectors are stored with their calibration"
        mine = tuple(labels)
        foreign = float((vectors.foreign @ vector).max(initial=0.0))
        found = Similarities(
            sentence=np.array([_nearest(vectors.sentences, vector, mine)]),
            passage=np.array([_nearest(vectors.passages, vector, mine)]),
            foreign=np.array([foreign]),
            coverage=np.array([self.by_words(text, mine).score]),
        )
        return Nearness(float(found.scores[0]), near.threshold)


def _nearest(index: VectorIndex, vector: NDArray[np.float32], labels: tuple[str, ...]) -> float:
    found = index.search(vector, labels, 1)
    return found[0].score if found else 0.0
