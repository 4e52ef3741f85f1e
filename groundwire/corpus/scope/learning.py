"""A scope model while it is made: sentences are asked of the other passages, foreign questions of all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..keyword.analysis import Analyzer
from .calibration import Floats, Similarities, highest, refused, threshold
from .files import Calibration, Labelled, Vectors, write_vectors, write_words
from .part import BATCH_TEXTS, LEAST_TERMS, MOST_KNOWN, foreign_questions
from .sample import Sampled
from .terms import TermCounts

if TYPE_CHECKING:
    from ..embedded import CachedEmbedder

Tell = Callable[[int, int], None]
SAME = 1.0 - 1e-4


@dataclass(frozen=True)
class Embedders:
    """One model, with the cache of passages that others share, and one for sentences."""

    passages: "CachedEmbedder"
    sentences: "CachedEmbedder"


class Learned:
    """What is learned of a corpus: from the counts of its terms, and from a sample of its passages."""

    def __init__(
        self,
        stop_words: tuple[str, ...],
        analyzer: Analyzer,
        terms: TermCounts,
        taken: Sequence[Sampled],
    ) -> None:
        self._stop_words = stop_words
        self._analyzer = analyzer
        self._terms = terms
        self._taken = taken

    def write_words(self, folder: Path, questions: Sequence[str]) -> None:
        """Calibrate and store what needs no vectors."""
        if questions:
            known = self._coverage(questions)
        else:
            said = self._said()
            known = self._coverage([said[at][1] for at in self._asking(said)], without=1)
        foreign = self._coverage(foreign_questions())
        write_words(folder, _calibrated(known, foreign), self._terms, self._stop_words)

    def write_vectors(
        self,
        folder: Path,
        embedders: Embedders,
        questions: Sequence[str],
        tell: Tell,
    ) -> None:
        """Embed, calibrate and store what a question's vector is compared with."""
        said, strange = self._said(), foreign_questions()
        total = len(self._taken) + len(said)
        passages = _embedded(
            [one.text for one in self._taken], embedders.passages, lambda done: tell(done, total)
        )
        own = _embedded(
            [text for _, text in said],
            embedders.sentences,
            lambda done: tell(len(self._taken) + done, total),
        )
        corpus = _Rows(own, passages, np.array([place for place, _ in said], np.intp))
        strangers = self._asked(corpus, strange, embedders.sentences.embed(strange))
        if questions:
            known = self._asked(corpus, questions, embedders.sentences.embed(questions))
        else:
            known = self._said_to_others(corpus, said)
        # A foreign question that is near these very documents is none.
        far = strangers.nearness < threshold(known.nearness, strangers.nearness)
        foreign = strangers.rows[far]
        near = _calibrated(known.scores(foreign), strangers.scores(foreign))
        labels = [one.labels for one in self._taken]
        write_vectors(
            folder,
            near,
            embedders.sentences.model_id,
            Labelled(own, [labels[place] for place, _ in said]),
            Labelled(passages, labels),
            foreign,
        )

    def _said(self) -> list[tuple[int, str]]:
        """Every sentence, beside the place of its passage."""
        return [(place, text) for place, one in enumerate(self._taken) for text in one.sentences]

    def _asking(self, said: Sequence[tuple[int, str]]) -> list[int]:
        """Which sentences stand for questions: long enough to be about something, spread over all."""
        long = [at for at, (_, text) in enumerate(said) if len(self._words(text)) >= LEAST_TERMS]
        return long[:: len(long) // MOST_KNOWN + 1]

    def _words(self, text: str) -> list[str]:
        return self._analyzer.query_terms(text)

    def _coverage(self, texts: Sequence[str], *, without: int = 0) -> Floats:
        found = [self._terms.coverage(self._words(text), without=without) for text in texts]
        return np.array(found, np.float64)

    def _asked(self, corpus: "_Rows", texts: Sequence[str], rows: Vectors) -> "_Asked":
        return _Asked(
            rows,
            highest(rows @ corpus.sentences.T),
            highest(rows @ corpus.passages.T),
            self._coverage(texts),
        )

    def _said_to_others(self, corpus: "_Rows", said: Sequence[tuple[int, str]]) -> "_Asked":
        """Sentences as questions about all passages but their own."""
        at = self._asking(said)
        rows, places = corpus.sentences[at], corpus.places[at]
        others = rows @ corpus.sentences.T
        others[places[:, None] == corpus.places[None, :]] = 0.0
        elsewhere = rows @ corpus.passages.T
        elsewhere[np.arange(len(at)), places] = 0.0
        coverage = self._coverage([said[one][1] for one in at], without=1)
        return _Asked(rows, highest(others), highest(elsewhere), coverage)


@dataclass(frozen=True)
class _Rows:
    """The vectors of a corpus. Invariant: sentence n is of the passage at `places[n]`."""

    sentences: Vectors
    passages: Vectors
    places: NDArray[np.intp]


@dataclass(frozen=True)
class _Asked:
    """Texts as questions to a corpus."""

    rows: Vectors
    sentence: Floats
    passage: Floats
    coverage: Floats

    @property
    def nearness(self) -> Floats:
        return self._similarities(np.zeros(len(self.rows))).scores

    def scores(self, foreign: Vectors) -> Floats:
        """Against foreign questions; one of them not against itself."""
        found = self.rows @ foreign.T
        found[found > SAME] = 0.0
        return self._similarities(highest(found)).scores

    def _similarities(self, foreign: Floats) -> Similarities:
        return Similarities(self.sentence, self.passage, foreign, self.coverage)


def _embedded(
    texts: Sequence[str], embedder: "CachedEmbedder", tell: Callable[[int], None]
) -> Vectors:
    """A batch at a time, so that progress is seen and an interruption is heard."""
    parts = []
    for at in range(0, len(texts), BATCH_TEXTS):
        parts.append(embedder.embed(texts[at : at + BATCH_TEXTS]))
        tell(at + len(parts[-1]))
    return np.concatenate(parts) if parts else embedder.embed([])


def _calibrated(known: Floats, foreign: Floats) -> Calibration:
    enough = threshold(known, foreign)
    return Calibration(enough, len(known), refused(foreign, enough))
