"""The fourth agent: no draft gets past it that the stored source doesn't bear out."""

from collections.abc import Mapping
from typing import Protocol

from contracts import Approved, DraftAnswer, Rejected

from .caveats import Noting
from .checks import Case, StoredDocument, run_checks
from .wording import Wording

UNKNOWN_VERSION = "unknown"


class DocumentStore(Protocol):
    """Reads what was ingested, by version: the critic believes nothing that a message says."""

    async def documents(
        self, corpus_version: str, doc_ids: frozenset[str]
    ) -> Mapping[str, StoredDocument] | None:
        """Those of the documents that the version has; None if there is no such version."""
        ...


async def critic(
    draft: DraftAnswer, *, store: DocumentStore, wording: Wording, noting: Noting
) -> Approved | Rejected:
    """Run every check on a draft; a rejection carries codes and ids, never a word of the draft."""
    cited = frozenset(
        [*(quote.doc_id for quote in draft.segments), *(other.doc_id for other in draft.related)]
    )
    documents = await store.documents(draft.corpus_version, cited)
    checks = run_checks(Case(draft, documents, wording, noting))
    if not all(check.passed for check in checks):
        return Rejected(
            intent=draft.intent,
            corpus_version=UNKNOWN_VERSION if documents is None else draft.corpus_version,
            checks=checks,
        )
    return Approved(
        label="approved" if draft.segments else "approved_fallback",
        intent=draft.intent,
        corpus_version=draft.corpus_version,
        segments=draft.segments,
        caveats=draft.caveats,
        related=draft.related,
        checks=checks,
    )
