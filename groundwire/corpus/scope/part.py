"""The scope model as a part of a snapshot: made from the documents alone, without a labelled question.

Each sentence of the corpus asks for what the other passages say: what scores the lowest of them mark how far a
question may be. Where questions are given, those do.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from ..manifest import Counts
from ..parts import OnProgress, Progress
from ..snapshot import Snapshot

if TYPE_CHECKING:
    from ..embedded import CachedEmbedder

SCOPE, NEURAL = "scope", "scope_neural"
"""The part that is quickly made and is there with its documents, and the one that follows them."""
VERSION = 1
"""Raised whenever equal documents get another model."""
BATCH_TEXTS = 32
LEAST_TERMS = 4
MOST_KNOWN = 1_000


@dataclass(frozen=True)
class ScopePart:
    """Builds a scope model: of words alone without an `embedder`.

    `sentences`: the same model with a cache of its own. `is_quick`: the model is, so nothing has to wait.
    `questions`: genuine ones, if there are any to calibrate on.
    """

    stop_words: tuple[str, ...] = ()
    embedder: "CachedEmbedder | None" = None
    sentences: "CachedEmbedder | None" = None
    is_quick: bool = True
    questions: tuple[str, ...] = ()
    name: str = SCOPE

    @property
    def how(self) -> str:
        """The format, the model, and everything that the threshold comes from."""
        from .files import FORMAT

        given = json.dumps([self.stop_words, self.questions, foreign_questions()])
        model = "words" if self.embedder is None else self.embedder.model_id
        return f"{FORMAT}-{VERSION}-{hashlib.sha256(given.encode()).hexdigest()[:12]}-{model}"

    def is_wanted(self, counts: Counts) -> bool:
        """Every corpus has one."""
        return True

    def missing(self, snapshot: Snapshot) -> int:
        """The passages and sentences whose vectors have to be computed."""
        if self.embedder is None or self.sentences is None or self.is_quick:
            return 0
        from .sample import sampled

        taken = list(sampled(snapshot))
        said = [text for one in taken for text in one.sentences]
        return self.embedder.unknown([one.text for one in taken]) + self.sentences.unknown(said)

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        """Learn and calibrate the model; how many passages it knows the words of."""
        from ..keyword.analysis import Analysis, Analyzer
        from .counting import counted
        from .learning import Embedders, Learned
        from .sample import sampled

        older = None if before is None else before.part_as(self.name, self.how)
        analyzer = Analyzer(Analysis(stop_words=self.stop_words))
        terms = counted(snapshot, analyzer, before, older)
        learned = Learned(self.stop_words, analyzer, terms, list(sampled(snapshot)))
        learned.write_words(folder, self.questions)
        if self.embedder is not None and self.sentences is not None:

            def tell(done: int, total: int) -> None:
                on_progress(Progress(self.name, done, total))

            embedders = Embedders(self.embedder, self.sentences)
            learned.write_vectors(folder, embedders, self.questions, tell)
        return sum(terms.passages.values())

    def forget(self, snapshot: Snapshot) -> None:
        """Drop the vectors of sentences that are gone; those of passages are kept for others too."""
        if self.sentences is None:
            return
        from .sample import sampled

        said = [text for one in sampled(snapshot) for text in one.sentences]
        self.sentences.keep([*said, *foreign_questions(), *self.questions])


def foreign_questions() -> list[str]:
    """What anyone may ask anywhere, in our own words: about no corpus in particular."""
    text = (resources(__package__) / "foreign.txt").read_text(encoding="utf-8")
    return text.splitlines()
