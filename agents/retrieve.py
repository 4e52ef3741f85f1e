"""The second agent: the passages that a question is answered from."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, assert_never

from contracts import Intent, Lead, Part, PartScore, RetrievedContext, RetrievedPassage

from .compound import alone, split
from .ranking import Ranking, Span, apart, best, fuse, pair_overlap, shared
from .reranking import FEEDBACK, Candidate, Features, features, weighed


@dataclass(frozen=True)
class FoundPassage:
    """A passage as it is stored. Offsets are characters of its document; `dated`, `lead` as of `RetrievedPassage`."""

    passage_id: str
    doc_id: str
    title: str
    source: str
    heading_path: tuple[str, ...]
    text: str
    char_start: int
    char_end: int
    dated: str | None = None
    lead: Lead | None = None


@dataclass(frozen=True)
class Found:
    """The candidates' raw scores, in stored order; `passage` reads one by position.

    Either every permitted passage, or the best by keywords with the best by vectors; a score is
    exact whichever of the two found its passage. `alike`: how near each candidate's vector is to
    the mean of some candidates' vectors, as cosines. Both are None where the corpus has no vectors (yet).
    Invariant: else `len(keyword_scores) == len(vector_scores)`. `merged` reads one with its neighbours, as far as
    they fit into so many characters. `sought`: what was searched for, where that isn't the text alone. `nearest`: how
    near the best sentence of each of some candidates is; None where sentences have no vectors.
    """

    corpus_version: str
    keyword_scores: Sequence[float]
    vector_scores: Sequence[float] | None
    passage: Callable[[int], FoundPassage]
    alike: Callable[[Sequence[int]], Sequence[float]] | None = None
    merged: Callable[[int, int], FoundPassage] | None = None
    sought: str | None = None
    nearest: Callable[[Sequence[int]], Sequence[float]] | None = None


class Search(Protocol):
    """Scores the passages of the current corpus that one of the labels opens."""

    async def __call__(self, text: str, labels: tuple[str, ...]) -> Found:
        """Score every candidate for a text."""
        ...


@dataclass(frozen=True)
class Shortlist:
    """The best candidates by fusion, best first, by their positions, and their passages."""

    positions: Sequence[int]
    hybrid: Sequence[float]
    passages: Sequence[FoundPassage]


def shortlist(found: Found, ranking: Ranking) -> Shortlist:
    """The candidates with evidence, fused: as many as are kept or looked at again."""
    words, vectors = found.keyword_scores, found.vector_scores
    near = [0.0] * len(words) if vectors is None else vectors
    alpha = 1.0 if vectors is None else ranking.alpha
    hybrid = fuse(words, near, alpha, ranking.fusion)
    scores = zip(words, near, strict=True)
    supported = [place for place, both in enumerate(scores) if ranking.supports(*both)]
    looks_on = ranking.rerank in ("linear", "model") or ranking.most_shared < 1.0
    looks_on = looks_on or ranking.merged_chars > 0
    deep = max(ranking.k, ranking.depth) if looks_on else ranking.k
    top = best(hybrid, deep, supported)
    return Shortlist(
        top, [hybrid[position] for position in top], [found.passage(position) for position in top]
    )


BEST_OF_PART = 2
"""Passages of each part of a compound question: two have an answer that the best alone lacks, more cost time."""

Away = Callable[[Callable[[], RetrievedContext]], Awaitable[RetrievedContext]]
"""Does work that takes a while somewhere where nobody waits for its thread."""


async def here(work: Callable[[], RetrievedContext]) -> RetrievedContext:
    """Do it at once."""
    return work()


async def retrieve(
    intent: Intent, *, search: Search, ranking: Ranking, away: Away = here
) -> RetrievedContext:
    """Find the best passages for an intent, with every score and rank that put them there."""
    labels = intent.query.labels
    found = await search(intent.cleaned_text, labels)
    parts = [(part, await search(part, labels)) for part in _parts(intent, ranking)]
    # One corpus version an answer: where a new one came between, the whole question has to do.
    same = [(part, one) for part, one in parts if one.corpus_version == found.corpus_version]
    return await away(lambda: _joined(ordered(intent, found, ranking), same, ranking))


def _parts(intent: Intent, ranking: Ranking) -> tuple[str, ...]:
    """What a compound question asks; where nobody could tell that its parts differ, by grammar alone.

    A single question is asked without its circumstances too, which may hide what it is about.
    """
    text = intent.cleaned_text
    return intent.sub_questions or split(text) or alone(text) if ranking.parts else ()


def _joined(
    whole: RetrievedContext, parts: Sequence[tuple[str, Found]], ranking: Ranking
) -> RetrievedContext:
    """The passages for the whole question, then the best that only a part found."""
    passages = {passage.passage_id: passage for passage in whole.passages}
    ranks: list[Part] = []
    for question, found in parts:
        asking = whole.intent.model_copy(update={"cleaned_text": question})
        own = ordered(asking, found, ranking).passages[:BEST_OF_PART]
        for passage in own:
            passages.setdefault(passage.passage_id, passage)
        ranks.append(Part(question=question, scores=tuple(map(_scored, own))))
    return whole.model_copy(
        update={
            "passages": tuple(
                passage.model_copy(update={"final_rank": rank})
                for rank, passage in enumerate(passages.values(), start=1)
            ),
            "parts": tuple(ranks),
        }
    )


def _scored(passage: RetrievedPassage) -> PartScore:
    return PartScore(
        passage_id=passage.passage_id,
        keyword_score=passage.keyword_score,
        vector_score=passage.vector_score,
        rerank_score=passage.rerank_score,
    )


def ordered(intent: Intent, found: Found, ranking: Ranking) -> RetrievedContext:
    """The best of what was found, in order."""
    top = shortlist(found, ranking)
    reranked = _reranked(intent.cleaned_text, found, top, ranking)
    places = range(len(top.positions))
    order = sorted(places, key=lambda place: -reranked[place]) if reranked else places
    kept = apart(_spans(top.passages), order, ranking.most_shared)
    read = islice(_read(found, top, kept, ranking.merged_chars), ranking.k)
    return RetrievedContext(
        intent=intent,
        corpus_version=found.corpus_version,
        signals=("keyword",) if found.vector_scores is None else ("keyword", "vectors"),
        passages=tuple(
            RetrievedPassage(
                **vars(passage),
                keyword_score=found.keyword_scores[top.positions[place]],
                vector_score=None
                if found.vector_scores is None
                else found.vector_scores[top.positions[place]],
                hybrid_score=top.hybrid[place],
                hybrid_rank=place + 1,
                rerank_score=reranked[place] if reranked else None,
                final_rank=final_rank,
            )
            for final_rank, (place, passage) in enumerate(read, start=1)
        ),
    )


def _read(
    found: Found, top: Shortlist, order: Iterable[int], merged_chars: int
) -> Iterator[tuple[int, FoundPassage]]:
    """The passages of the order as they are read, with their neighbours where they fit; nothing is said twice."""
    if not merged_chars or found.merged is None:
        yield from ((place, top.passages[place]) for place in order)
        return
    taken: list[Span] = []
    for place in order:
        alone = top.passages[place]
        if any(shared(_span(alone), other) == 1.0 for other in taken):
            continue
        whole = found.merged(top.positions[place], merged_chars)
        repeats = any(shared(_span(whole), other) > 0.0 for other in taken)
        passage = alone if repeats else whole
        taken.append(_span(passage))
        yield place, passage


def _span(passage: FoundPassage) -> Span:
    return passage.doc_id, passage.char_start, passage.char_end


def _spans(passages: Sequence[FoundPassage]) -> list[Span]:
    return [_span(one) for one in passages]


def _reranked(question: str, found: Found, top: Shortlist, ranking: Ranking) -> list[float]:
    """What the shortlist is ordered by; none for the order that it has."""
    match ranking.rerank:
        case "none":
            return []
        case "pairs":
            return [pair_overlap(question, passage.text) for passage in top.passages]
        case "linear":
            told = look_again(question, found, top, ranking)
            return _above_the_rest([weighed(each, ranking.weights) for each in told], top)
        case "model":
            assert ranking.rescore is not None, "a model is asked"
            texts = [f"{_heading(one)}\n{one.text}" for one in top.passages[: ranking.depth]]
            scores = ranking.rescore(question, texts) if texts else ()
            return _above_the_rest(list(scores), top)
        case other:
            assert_never(other)


def _above_the_rest(scores: list[float], top: Shortlist) -> list[float]:
    """Scores of the first of a shortlist; the others keep their order below them."""
    below = min(scores, default=0.0) - 1.0
    return scores + [below] * (len(top.positions) - len(scores))


def _heading(passage: FoundPassage) -> str:
    return "\n".join([passage.title, *passage.heading_path])


def look_again(question: str, found: Found, top: Shortlist, ranking: Ranking) -> list[Features]:
    """The features of the best `depth` of a shortlist."""
    deep = top.positions[: ranking.depth]
    alike = found.alike(deep[:FEEDBACK]) if found.alike and deep else ()
    said = found.nearest(deep) if found.nearest and deep else [0.0] * len(deep)
    # Passages of one document are alike whatever is asked, and would only push out its other places.
    apart_share = len({one.doc_id for one in top.passages[: len(deep)]}) / max(len(deep), 1)
    candidates = [
        Candidate(
            heading=_heading(passage),
            text=passage.text,
            keyword=found.keyword_scores[position],
            vector=0.0 if found.vector_scores is None else found.vector_scores[position],
            feedback=alike[position] * apart_share if alike else 0.0,
            sentence=sentence,
        )
        for position, passage, sentence in zip(deep, top.passages, said, strict=False)
    ]
    return features(question, candidates, ranking.analyze)
