"""The second agent: the passages that a question is answered from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts import Intent, RetrievedContext, RetrievedPassage

from .ranking import Ranking, best, fuse, min_max, pair_overlap


@dataclass(frozen=True)
class FoundPassage:
    """A passage as it is stored. Offsets are characters of its document."""

    passage_id: str
    doc_id: str
    title: str
    source: str
    heading_path: tuple[str, ...]
    text: str
    char_start: int
    char_end: int


@dataclass(frozen=True)
class Found:
    """Raw scores of permitted passages, in stored order; `passage` reads one by position.

    All of them, or those that a search of a large corpus puts first. `vector_scores`: None where the corpus has
    no vectors (yet). Invariant: else `len(keyword_scores) == len(vector_scores)`.
    """

    corpus_version: str
    keyword_scores: Sequence[float]
    vector_scores: Sequence[float] | None
    passage: Callable[[int], FoundPassage]


class Search(Protocol):
    """Scores the passages of the current corpus that one of the labels opens."""

    async def __call__(self, text: str, labels: tuple[str, ...]) -> Found:
        """Score permitted passages for a text."""
        ...


async def retrieve(intent: Intent, *, search: Search, ranking: Ranking) -> RetrievedContext:
    """Find the best passages for an intent, with every score and rank that put them there."""
    found = await search(intent.cleaned_text, intent.query.labels)
    vectors = found.vector_scores
    by_keyword = found.keyword_scores
    hybrid = min_max(by_keyword) if vectors is None else fuse(by_keyword, vectors, ranking.alpha)
    candidates = [
        position
        for position, score in enumerate(found.keyword_scores)
        if ranking.keep_unsupported or score > 0.0
    ]
    top = best(hybrid, ranking.k, candidates)
    passages = [found.passage(position) for position in top]
    overlaps: list[float | None] = [None] * len(top)
    order = list(range(len(top)))
    if ranking.rerank:
        scores = [pair_overlap(intent.cleaned_text, passage.text) for passage in passages]
        order.sort(key=lambda place: -scores[place])
        overlaps = list(scores)
    return RetrievedContext(
        intent=intent,
        corpus_version=found.corpus_version,
        signals=("keyword",) if vectors is None else ("keyword", "vectors"),
        passages=tuple(
            RetrievedPassage(
                **vars(passages[place]),
                keyword_score=found.keyword_scores[top[place]],
                vector_score=None if vectors is None else vectors[top[place]],
                hybrid_score=hybrid[top[place]],
                hybrid_rank=place + 1,
                rerank_score=overlaps[place],
                final_rank=final_rank,
            )
            for final_rank, place in enumerate(order, start=1)
        ),
    )
