"""The vectors as a part of a snapshot: what each is of, and how few have to be computed again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .manifest import Counts
from .model import Document, Passage
from .parts import OnProgress, Progress
from .snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vectors import VectorRow

VECTORS = "vectors"
TEXT_VERSION = 1
"""Raised whenever `embedded_text` says something else of the same passage."""
BATCH_PASSAGES = 16
"""Few, so that progress is seen and an interruption is heard."""


class Embedder(Protocol):
    """Texts into unit vectors."""

    @property
    def model_id(self) -> str:
        """What the numbers depend on."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row for each text, in order; with a cache, what is new is in it before this returns."""
        ...


class CachedEmbedder(Embedder, Protocol):
    """Takes those texts that it has seen from a cache."""

    def unknown(self, texts: Sequence[str]) -> int:
        """How many different texts aren't in the cache."""
        ...

    def keep(self, texts: Sequence[str]) -> None:
        """Drop all others from the cache, of every model."""
        ...


@dataclass(frozen=True)
class VectorPart:
    """Builds the vectors of a snapshot. Where many are new it takes long, and follows its documents.

    A run that is cut short has lost at most a batch: the others are in the embedder's cache.
    """

    embedder: CachedEmbedder
    least_passages: int = 0
    name: str = VECTORS

    @property
    def how(self) -> str:
        """The format, the model, and what of a passage is embedded."""
        return how_of(self.embedder)

    def is_wanted(self, counts: Counts) -> bool:
        """Whether the corpus is large enough."""
        return counts.passages >= self.least_passages

    def missing(self, snapshot: Snapshot) -> int:
        """The passages whose vectors have to be computed."""
        return self.embedder.unknown([text for _, text, _ in _texts(snapshot)])

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        """Store the vector of every passage under its ordinal; one without direction counts, but is left out."""
        return build_vectors(folder, snapshot, self.embedder, on_progress)

    def forget(self, snapshot: Snapshot) -> None:
        """Drop the vectors of what is not in the corpus any more."""
        self.embedder.keep([text for _, text, _ in _texts(snapshot)])


def how_of(embedder: Embedder) -> str:
    """How an embedder's vectors are stored, as a manifest says it."""
    from .vectors.files import FORMAT

    return f"int8-{FORMAT}-{TEXT_VERSION}-{embedder.model_id}"


def build_vectors(
    folder: Path, snapshot: Snapshot, embedder: Embedder, on_progress: OnProgress
) -> int:
    """Build the vector index of a snapshot into a folder; how many passages it had."""
    from .vectors import build

    done = 0

    def rows() -> "Iterator[VectorRow]":
        nonlocal done
        for row in _rows(snapshot, embedder):
            yield row
            done += 1
            on_progress(Progress(VECTORS, done, snapshot.counts.passages))

    build(folder, rows(), embedder.dimensions)
    return done


def embedded_text(document: Document, passage: Passage) -> str:
    """What a passage's vector is of: its title and headings, then its text."""
    return "\n".join([document.title, *passage.heading_path, document.text_of(passage)]).strip()


def _texts(snapshot: Snapshot) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    ordinal = 0
    for document in snapshot.documents.stream():
        for passage in document.passages:
            yield ordinal, embedded_text(document, passage), document.labels
            ordinal += 1


def _rows(snapshot: Snapshot, embedder: Embedder) -> "Iterator[VectorRow]":
    from .vectors import VectorRow

    texts = _texts(snapshot)
    while batch := list(islice(texts, BATCH_PASSAGES)):
        vectors = embedder.embed([text for _, text, _ in batch])
        for (ordinal, _, labels), vector in zip(batch, vectors, strict=True):
            yield VectorRow(ordinal, vector, labels)
