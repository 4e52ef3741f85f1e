"""The agents' ports on a corpus: passages to search, documents to check against."""

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from groundwire.profiles import Profile

from .rules import Reader

if TYPE_CHECKING:
    from agents.retrieve import Found, FoundPassage
    from groundwire.corpus import Document, Passage, Snapshot
    from groundwire.corpus.keyword import KeywordIndex

KEYWORD = "keyword"
KEPT_INDEXES = 3
CANDIDATES = 100
AROUND = 0.2
"""What a word in the title or in a heading counts, beside one in the passage itself."""
INLINE_PASSAGES = 2_000
"""Corpora above this are searched off the loop: below, it takes less than a switch is worth."""


class Search:
    """The agents' search port, on the current snapshot: by its keyword index if it has one, else in memory."""

    def __init__(self, profile: Profile, reader: Reader) -> None:
        from agents.tokens import Analyzer
        from groundwire.corpus import Fields, Scoring, Searcher

        terms, retrieve = profile.terms, profile.retrieve
        self._reader = reader
        self._retrieve = retrieve
        self._searcher = Searcher(
            Analyzer(frozenset(terms.stopwords), terms.stems),
            Fields(title="title" in terms.fields, headings="headings" in terms.fields),
            Scoring(retrieve.k1, retrieve.b, retrieve.dimensions),
        )
        self._indexes = lru_cache(maxsize=KEPT_INDEXES)(_open_index)

    async def __call__(self, text: str, labels: tuple[str, ...]) -> "Found":
        """The scores of all passages that the labels open, or of the best of a large corpus."""
        snapshot = await self._reader.current()
        # Who wants passages without evidence too wants the scores of all.
        if KEYWORD in snapshot.manifest.parts and not self._retrieve.keep_unsupported:
            return await asyncio.to_thread(self._by_index, snapshot, text, labels)
        ready = self._searcher.is_ready(snapshot, labels)
        if ready and snapshot.counts.passages <= INLINE_PASSAGES:
            return self._in_memory(snapshot, text, labels)
        return await asyncio.to_thread(self._in_memory, snapshot, text, labels)

    def _in_memory(self, snapshot: "Snapshot", text: str, labels: tuple[str, ...]) -> "Found":
        from agents.retrieve import Found

        hits = self._searcher.score(snapshot, labels, text)
        return Found(
            corpus_version=snapshot.version,
            keyword_scores=hits.keyword_scores,
            vector_scores=hits.vector_scores,
            passage=lambda position: _found(*hits.passages[position]),
        )

    def _by_index(self, snapshot: "Snapshot", text: str, labels: tuple[str, ...]) -> "Found":
        from agents.retrieve import Found
        from groundwire.corpus.keyword import Weights

        index = self._indexes(snapshot)
        weights = Weights(self._retrieve.k1, self._retrieve.b, title=AROUND, headings=AROUND)
        hits = index.search(text, labels, CANDIDATES, weights)
        hits.sort(key=lambda hit: hit.ordinal)
        return Found(
            corpus_version=snapshot.version,
            keyword_scores=[hit.score for hit in hits],
            vector_scores=None,
            passage=lambda position: _found(*snapshot.at([hits[position].ordinal])[0]),
        )


def _open_index(snapshot: "Snapshot") -> "KeywordIndex":
    from groundwire.corpus.keyword import KeywordIndex

    folder = snapshot.part(KEYWORD)
    assert folder is not None, "the caller has looked"
    return KeywordIndex.open(folder)


def _found(document: "Document", passage: "Passage") -> "FoundPassage":
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
