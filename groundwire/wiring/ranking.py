"""How a profile searches and orders, in the agents' own values."""

from functools import partial
from typing import TYPE_CHECKING

from groundwire.profiles import Profile

from .rules import Reader

if TYPE_CHECKING:
    from agents.ranking import Ranking
    from agents.retrieve import Search as SearchPort
    from groundwire.models import Embedder

_ORDERING = {
    "alpha",
    "k",
    "fusion",
    "rerank",
    "depth",
    "weights",
    "keep_unsupported",
    "least_cosine",
}


def ranking_of(profile: Profile) -> "Ranking":
    """The order that a profile wants."""
    from agents.ranking import Ranking
    from agents.tokens import Analyzer

    terms = profile.terms
    return Ranking(
        **profile.retrieve.model_dump(include=_ORDERING),
        analyze=Analyzer(frozenset(terms.stopwords), terms.stems),
    )


def search_of(profile: Profile, reader: Reader, embedder: "Embedder | None" = None) -> "SearchPort":
    """The search port that a profile wants: the course's with its hashed vectors, else by indexes."""
    from .indexes import Indexes
    from .ports import HybridSearch, Search

    if profile.retrieve.embedder == "hashing":
        return Search(profile, reader)
    opened = partial(_opened, profile.retrieve.embedder, embedder)
    return HybridSearch(Indexes(profile, opened), reader)


def _opened(name: str, given: "Embedder | None") -> "Embedder | None":
    from groundwire.models import open_embedder

    if name == "none":
        return None
    return open_embedder(name) if given is None else given
