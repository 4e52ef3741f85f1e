"""The vectors of sentences as a part of a snapshot, beside those of passages: as incremental, as complete."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from .chunking.sentences import sentences
from .embedded import CachedEmbedder, Embedder
from .manifest import Counts
from .model import Document, Passage
from .parts import OnProgress, Progress
from .snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SENTENCES = "sentences"
TEXT_VERSION = 1
"""Raised whenever `said` says something else of the same passage."""
BATCH_PASSAGES = 16


@dataclass(frozen=True)
class SentencePart:
    """Builds the vectors of the sentences of every passage. It takes about as long as those of the passages."""

    embedder: CachedEmbedder
    name: str = SENTENCES

    @property
    def how(self) -> str:
        """The format, the model, and how sentences are cut."""
        return how_said(self.embedder)

    def is_wanted(self, counts: Counts) -> bool:
        """Every corpus has them."""
        return True

    def missing(self, snapshot: Snapshot) -> int:
        """The sentences whose vectors have to be computed."""
        return self.embedder.unknown(_texts(snapshot))

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        """Store the vectors of every passage's sentences under its ordinal."""
        return build_said(folder, snapshot, self.embedder, on_progress)

    def forget(self, snapshot: Snapshot) -> None:
        """Drop the vectors of what is not said in the corpus any more."""
        self.embedder.keep(_texts(snapshot))


def how_said(embedder: Embedder) -> str:
    """How an embedder's vectors of sentences are stored, as a manifest says it."""
    from .vectors.sentences import FORMAT

    return f"int8-{FORMAT}-{TEXT_VERSION}-{embedder.model_id}"


def build_said(
    folder: Path, snapshot: Snapshot, embedder: Embedder, on_progress: OnProgress
) -> int:
    """Build the store of a snapshot's sentences into a folder; how many passages it had."""
    from .vectors.sentences import write

    def rows() -> "Iterator[NDArray[np.float32]]":
        for done, row in enumerate(_rows(snapshot, embedder), start=1):
            yield row
            on_progress(Progress(SENTENCES, done, snapshot.counts.passages))

    return write(folder, rows(), embedder.dimensions)


def said(document: Document, passage: Passage) -> list[str]:
    """The sentences of a passage that have a letter or a digit."""
    spans = sentences(document.text, passage.char_start, passage.char_end)
    texts = (document.text[start:end].strip() for start, end in spans)
    return [text for text in texts if any(map(str.isalnum, text))]


def _texts(snapshot: Snapshot) -> list[str]:
    return [text for each in _said(snapshot) for text in each]


def _said(snapshot: Snapshot) -> Iterator[list[str]]:
    for document in snapshot.documents.stream():
        for passage in document.passages:
            yield said(document, passage)


def _rows(snapshot: Snapshot, embedder: Embedder) -> "Iterator[NDArray[np.float32]]":
    passages = _said(snapshot)
    while batch := list(islice(passages, BATCH_PASSAGES)):
        rows = embedder.embed([text for each in batch for text in each])
        at = 0
        for each in batch:
            yield rows[at : at + len(each)]
            at += len(each)
