"""The keyword index as a part of a snapshot: which passages go in under which words, and what is found."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .manifest import Counts
from .parts import OnProgress, Progress
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .keyword import Analysis, Row

KEYWORD = "keyword"
LEAST_PASSAGES = 2_000
"""Smaller corpora are searched in memory, all passages scored: that takes less than reading an index would."""


@dataclass(frozen=True)
class KeywordPart:
    """Builds the keyword index of a snapshot. Quick: it is there with its documents.

    Imports what it needs when it is needed: most corpora that are asked about in passing are small.
    """

    stop_words: tuple[str, ...] | None = None
    language: str = "english"
    least_passages: int = LEAST_PASSAGES
    name: str = KEYWORD

    @property
    def how(self) -> str:
        """The format, and how texts become terms."""
        from .keyword.files import FORMAT

        text = json.dumps(asdict(self._analysis()), sort_keys=True)
        return f"bm25-{FORMAT}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def is_wanted(self, counts: Counts) -> bool:
        """Whether the corpus is large enough."""
        return counts.passages >= self.least_passages

    def missing(self, snapshot: Snapshot) -> int:
        """Nothing is slow."""
        return 0

    def build(self, folder: Path, snapshot: Snapshot, on_progress: OnProgress) -> int:
        """Index every passage under its ordinal."""
        from .keyword import build

        return build(folder, _rows(snapshot, on_progress), self._analysis())

    def forget(self, snapshot: Snapshot) -> None:
        """Nothing is kept elsewhere."""

    def _analysis(self) -> "Analysis":
        from .keyword import Analysis

        return Analysis(self.language, self.stop_words)


def _rows(snapshot: Snapshot, on_progress: OnProgress) -> Iterator["Row"]:
    from .keyword import Row

    total, ordinal = snapshot.counts.passages, 0
    for document in snapshot.documents.stream():
        for passage in document.passages:
            text = document.text_of(passage)
            yield Row(ordinal, text, document.title, passage.heading_path, document.labels)
            ordinal += 1
        on_progress(Progress(KEYWORD, ordinal, total))
