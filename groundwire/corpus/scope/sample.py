"""What of a corpus its scope model is made of: passages, all or a sample that stays when the corpus grows, and
their sentences."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..chunking.sentences import sentences
from ..embedded import embedded_text
from ..model import Document, Passage
from ..partitions import Labels
from ..snapshot import Snapshot

MOST_PASSAGES = 5_000
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Sampled:
    """A passage: the text that stands for it, and its sentences."""

    text: str
    sentences: tuple[str, ...]
    labels: Labels


def sampled(snapshot: Snapshot, most: int = MOST_PASSAGES) -> Iterator[Sampled]:
    """Every passage in order; of a large corpus about `most`, chosen by the digest of their ids."""
    share = most / max(snapshot.counts.passages, 1)
    for document in snapshot.documents.stream():
        for passage in document.passages:
            if share >= 1.0 or _lot(passage.passage_id) < share:
                said = tuple(_sentences(document, passage))
                yield Sampled(embedded_text(document, passage), said, document.labels)


def _sentences(document: Document, passage: Passage) -> Iterator[str]:
    for start, end in sentences(document.text, passage.char_start, passage.char_end):
        text = document.text[start:end].strip()
        if _LETTER.search(text):
            yield text


def _lot(text: str) -> float:
    """A number from 0 to 1 that the text decides."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8
