"""The indexes of a corpus version: those that lie in its snapshot, else built once beside it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.profiles import Profile

from .opened import Opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from groundwire.corpus import OnProgress, Snapshot
    from groundwire.corpus.hybrid import Hybrid
    from groundwire.models import Embedder


class Indexes:
    """Opens or builds the indexes of snapshots. Blocks: call it off the loop."""

    def __init__(self, profile: Profile, embedder: "Callable[[], Embedder | None]") -> None:
        """`embedder` is opened at the first use; None: words alone."""
        self._profile = profile
        self._open_embedder = embedder
        self._embedder: Embedder | None = None
        self._opened = Opened(self._build)

    def of(self, snapshot: "Snapshot") -> "Hybrid":
        """The indexes of a version."""
        return self._opened.of(snapshot)

    def warm(self, snapshot: "Snapshot") -> None:
        """Open the indexes of a version, and run the embedder once."""
        hybrid = self.of(snapshot)
        if self._embedder is not None and hybrid.has_vectors:
            self._embedder.embed(["warm"])

    def _build(self, snapshot: "Snapshot") -> "Hybrid":
        from groundwire.corpus.hybrid import Hybrid
        from groundwire.corpus.keyword import KeywordIndex, Weights
        from groundwire.corpus.vectors import VectorIndex
        from groundwire.corpus.vectors.sentences import SentenceVectors

        if self._embedder is None:
            self._embedder = self._open_embedder()
        embedder, part = self._embedder, self._profile.retrieve

        def embed(text: str) -> "NDArray[np.float32]":
            assert embedder is not None, "without an embedder there are no vectors to compare"
            row: NDArray[np.float32] = embedder.embed([text])[0]
            return row

        # What is mapped stays readable when its folder is gone: nothing is left, however this process ends.
        with tempfile.TemporaryDirectory(prefix="groundwire-index-") as name:
            near = None if embedder is None else _vectors(snapshot, embedder, Path(name))
            sure = embedder if part.sentences else None
            said = None if sure is None else _said(snapshot, sure, Path(name))
            return Hybrid(
                KeywordIndex.open(_keyword(snapshot, self._profile, Path(name))),
                None if near is None else VectorIndex.open(near),
                embed,
                Weights(k1=part.k1, b=part.b),
                sentences=None if said is None else SentenceVectors.open(said),
            )


def _keyword(snapshot: "Snapshot", profile: Profile, beside: Path) -> Path:
    """The folder of the keyword index: the snapshot's, or one built now, which is quick."""
    from groundwire.corpus import KeywordPart, unheard

    part = KeywordPart(profile.terms.stopwords)
    if (folder := snapshot.part_as(part.name, part.how)) is not None:
        return folder
    part.build(beside / part.name, snapshot, None, unheard)
    return beside / part.name


def _vectors(snapshot: "Snapshot", embedder: "Embedder", beside: Path) -> Path | None:
    from groundwire.corpus.embedded import VECTORS, build_vectors, how_of

    return _stored_or_built(snapshot, embedder, beside / VECTORS, how_of, build_vectors)


def _said(snapshot: "Snapshot", embedder: "Embedder", beside: Path) -> Path | None:
    from groundwire.corpus.said import SENTENCES, build_said, how_said

    return _stored_or_built(snapshot, embedder, beside / SENTENCES, how_said, build_said)


def _stored_or_built(
    snapshot: "Snapshot",
    embedder: "Embedder",
    beside: Path,
    how: "Callable[[Embedder], str]",
    build: "Callable[[Path, Snapshot, Embedder, OnProgress], int]",
) -> Path | None:
    """The folder of a part that an embedder makes: the snapshot's; for documents in memory one built now; else none."""
    from groundwire.corpus import unheard

    folder = snapshot.part_as(beside.name, how(embedder))
    if folder is not None or snapshot.is_stored:
        return folder
    build(beside, snapshot, embedder, unheard)
    return beside
