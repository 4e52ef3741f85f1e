"""Counting the terms of a snapshot's passages: all of them, or what changed since a snapshot that was counted."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..embedded import embedded_text
from ..keyword.analysis import Analyzer
from ..model import Document
from ..partitions import Labels
from ..snapshot import Snapshot
from .files import read_terms
from .terms import TermCounts

_DIGESTS = "SELECT digest, doc_id FROM documents ORDER BY ordinal"


def counted(
    snapshot: Snapshot, analyzer: Analyzer, before: Snapshot | None, older: Path | None
) -> TermCounts:
    """The counts of a snapshot. `older`: where those of `before` lie, counted by the same analyzer.

    Invariant: however they are counted, they are equal.
    """
    if before is None or older is None:
        return _added(TermCounts(), snapshot.documents.stream(), analyzer)
    then, now = dict(before.rows(_DIGESTS)), dict(snapshot.rows(_DIGESTS))
    counts = read_terms(older)
    for digest in then.keys() - now.keys():
        for terms, labels in _terms(before.documents[then[digest]], analyzer):
            counts.remove(terms, labels)
    come = (snapshot.documents[now[digest]] for digest in now.keys() - then.keys())
    return _added(counts, come, analyzer)


def _added(counts: TermCounts, documents: Iterable[Document], analyzer: Analyzer) -> TermCounts:
    for document in documents:
        for terms, labels in _terms(document, analyzer):
            counts.add(terms, labels)
    return counts


def _terms(document: Document, analyzer: Analyzer) -> Iterator[tuple[list[str], Labels]]:
    for passage in document.passages:
        yield analyzer.terms(embedded_text(document, passage)), document.labels
