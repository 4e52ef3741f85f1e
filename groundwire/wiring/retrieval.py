"""The retrieve agent alone, on documents in memory: for measuring it without the other four."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from contracts import Intent, Query, RetrievedContext
from contracts.query import PUBLIC
from groundwire.profiles import Profile

from .assembly import Assembly
from .ranking import ranking_of, search_of
from .rules import Reader

if TYPE_CHECKING:
    from groundwire.corpus import Document
    from groundwire.models import Embedder

Retriever = Callable[[str], Awaitable[RetrievedContext]]


def build_retriever(
    profile: Profile,
    documents: "Iterable[Document]",
    *,
    embedder: "Embedder | None" = None,
) -> Retriever:
    """A profile's search over documents that have their passages; `embedder` replaces the profile's."""
    from agents.retrieve import retrieve
    from groundwire.corpus import FixedCorpus, snapshot_of

    reader = Reader(Assembly(profile, FixedCorpus(snapshot_of(documents))))
    search, ranking = search_of(profile, reader, embedder), ranking_of(profile)

    async def find(question: str) -> RetrievedContext:
        return await retrieve(asking(question), search=search, ranking=ranking)

    return find


def asking(question: str, labels: Sequence[str] = (PUBLIC,)) -> Intent:
    """An intent that asks for just this, its blanks as `understand` leaves them; no classifier stands before it."""
    return Intent(
        query=Query(text=question, session_id="search", labels=tuple(labels)),
        cleaned_text=" ".join(question.split()),
        label="search",
        labels=("search",),
        confidence=1.0,
        category_scores={"search": 1.0},
        entities=(),
        in_scope=True,
    )
