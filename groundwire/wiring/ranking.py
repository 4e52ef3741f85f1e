"""How a profile searches and orders, in the agents' own values."""

from functools import partial
from typing import TYPE_CHECKING, cast

from groundwire.profiles import Profile

from .rules import Reader

if TYPE_CHECKING:
    from agents.ranking import Ranking, Rerank, Rescore
    from groundwire.models import Embedder, Endpoint

    from .ports import HybridSearch, Search

_ORDERING = {
    "alpha",
    "k",
    "fusion",
    "depth",
    "weights",
    "keep_unsupported",
    "least_cosine",
    "most_shared",
    "merged_chars",
    "parts",
}


def ranking_of(profile: Profile) -> "Ranking":
    """The order that a profile wants."""
    from agents.ranking import Ranking
    from agents.tokens import Analyzer

    terms, (kind, _, model) = profile.terms, profile.retrieve.rerank.partition(":")
    return Ranking(
        rerank="model" if model else cast("Rerank", kind),
        rescore=_rescore(model) if model else None,
        **profile.retrieve.model_dump(include=_ORDERING),
        analyze=Analyzer(frozenset(terms.stopwords), terms.stems),
    )


def _rescore(path: str) -> "Rescore":
    from groundwire.models import open_cross_encoder

    return open_cross_encoder(path).score


def search_of(
    profile: Profile,
    reader: Reader,
    embedder: "Embedder | None" = None,
    endpoint: "Endpoint | None" = None,
) -> "HybridSearch | Search":
    """The search port that a profile wants: the course's with its hashed vectors, else by indexes."""
    from .indexes import Indexes
    from .ports import HybridSearch, Search

    if profile.retrieve.embedder == "hashing":
        return Search(profile, reader)
    opened = partial(_opened, profile.retrieve.embedder, embedder, endpoint)
    return HybridSearch(profile, Indexes(profile, opened), reader)


def _opened(name: str, given: "Embedder | None", endpoint: "Endpoint | None") -> "Embedder | None":
    from groundwire.models import open_embedder

    if name == "none":
        return None
    return open_embedder(name, endpoint) if given is None else given
