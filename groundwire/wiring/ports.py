"""The agents' ports on a corpus: passages to search, documents to check against."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from contracts import Lead
from contracts.query import PUBLIC
from groundwire.profiles import Profile

from .indexes import Indexes
from .rules import Reader

if TYPE_CHECKING:
    from agents.retrieve import Found, FoundPassage
    from groundwire.corpus import Document, Passage, Snapshot
    from groundwire.corpus.hybrid import Proposed

INLINE_PASSAGES = 2_000
"""Corpora above this are searched off the loop: below, it takes less than a switch is worth."""


class HybridSearch:
    """The agents' search port: the best by words with the best by vectors, of the current snapshot."""

    def __init__(self, profile: Profile, indexes: Indexes, reader: Reader) -> None:
        self._profile = profile
        self._indexes = indexes
        self._reader = reader

    async def __call__(self, text: str, labels: tuple[str, ...]) -> "Found":
        """The candidates that the labels open, of the current version."""
        from agents.retrieve import Found

        snapshot = await self._reader.current()
        sought = await self._sought(text, snapshot.version)
        proposed = await asyncio.to_thread(self._propose, snapshot, sought, labels)
        return Found(
            corpus_version=snapshot.version,
            keyword_scores=proposed.keyword_scores,
            vector_scores=proposed.vector_scores,
            passage=lambda position: _stored(snapshot, proposed.ordinals[position]),
            merged=lambda position, most: _merged(snapshot, proposed.ordinals[position], most),
            alike=proposed.alike,
            nearest=proposed.nearest,
            sought=None if sought == text else sought,
        )

    async def warm(self) -> None:
        """Open model and indexes of the current version, which takes seconds that no query should wait for."""
        await asyncio.to_thread(self._indexes.warm, await self._reader.current())

    async def _sought(self, text: str, version: str) -> str:
        """The text, with what the corpus calls it where the profile says so."""
        if not self._profile.retrieve.adds_topic:
            return text
        topics = (await self._reader.rules(version)).topics
        return topics.added_to(text)

    def _propose(self, snapshot: "Snapshot", text: str, labels: tuple[str, ...]) -> "Proposed":
        return self._indexes.of(snapshot).propose(text, labels)


class Search:
    """The agents' search port: every passage of the current snapshot, as the course scores it."""

    def __init__(self, profile: Profile, reader: Reader) -> None:
        from agents.tokens import Analyzer
        from groundwire.corpus import Fields, Scoring, Searcher

        terms, retrieve = profile.terms, profile.retrieve
        self._reader = reader
        self._searcher = Searcher(
            Analyzer(frozenset(terms.stopwords), terms.stems),
            Fields(title="title" in terms.fields, headings="headings" in terms.fields),
            Scoring(retrieve.k1, retrieve.b, retrieve.dimensions),
        )

    async def __call__(self, text: str, labels: tuple[str, ...]) -> "Found":
        """The scores of all passages that the labels open, of the current version."""
        from agents.retrieve import Found

        snapshot = await self._reader.current()
        ready = self._searcher.is_ready(snapshot, labels)
        if ready and snapshot.counts.passages <= INLINE_PASSAGES:
            hits = self._searcher.score(snapshot, labels, text)
        else:
            hits = await asyncio.to_thread(self._searcher.score, snapshot, labels, text)
        return Found(
            corpus_version=snapshot.version,
            keyword_scores=hits.keyword_scores,
            vector_scores=hits.vector_scores,
            passage=lambda position: _found(*hits.passages[position]),
            merged=lambda position, most: _found(*_widened(hits.passages, position, most)),
        )

    async def warm(self) -> None:
        """Build the index of the current version for those who may see what is public."""
        await self("", (PUBLIC,))


def _stored(snapshot: "Snapshot", ordinal: int) -> "FoundPassage":
    document, passage = snapshot.at([ordinal])[0]
    return _found(document, passage, _lead(snapshot, document, passage))


def _widened(
    passages: "Sequence[tuple[Document, Passage]]", position: int, most_chars: int
) -> "tuple[Document, Passage]":
    from groundwire.corpus.merging import widened

    def read(at: int) -> "tuple[Document, Passage] | None":
        return passages[at] if 0 <= at < len(passages) else None

    return widened(read, position, most_chars) or passages[position]


def _merged(snapshot: "Snapshot", ordinal: int, most_chars: int) -> "FoundPassage":
    document, passage = snapshot.merged_at(ordinal, most_chars)
    return _found(document, passage, _lead(snapshot, document, passage))


def _lead(snapshot: "Snapshot", document: "Document", passage: "Passage") -> Lead | None:
    """What the passage needs beside its own words, as it lies in another passage of the document."""
    if passage.context is None:
        return None
    start, end = passage.context
    holder = snapshot.holding(document.doc_id, start, end)
    if holder is None or passage.char_start <= start < end <= passage.char_end:
        return None
    return Lead(
        text=document.text[start:end],
        passage=document.text_of(holder),
        passage_start=holder.char_start,
        passage_id=holder.passage_id,
        heading_path=holder.heading_path,
        char_start=start,
        char_end=end,
    )


def _found(document: "Document", passage: "Passage", lead: Lead | None = None) -> "FoundPassage":
    from agents.retrieve import FoundPassage

    return FoundPassage(
        doc_id=document.doc_id,
        title=document.title,
        source=document.source,
        text=document.text_of(passage),
        passage_id=passage.passage_id,
        char_start=passage.char_start,
        char_end=passage.char_end,
        heading_path=passage.heading_path,
        dated=document.modified or document.published,
        lead=lead,
    )


class Documents:
    """The critic's store port: documents by corpus version."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def documents(
        self, corpus_version: str, doc_ids: frozenset[str]
    ) -> "Mapping[str, Document] | None":
        """Those of the documents that the version has; None if there is no such version."""
        snapshot = await self._reader.snapshot(corpus_version)
        if snapshot is None:
            return None
        found = ((doc_id, snapshot.documents.get(doc_id)) for doc_id in doc_ids)
        return {doc_id: document for doc_id, document in found if document is not None}
