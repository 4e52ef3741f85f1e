"""Why passages are in their order: what each signal gave, who moved, and by what. Pure.

The order is that of `retrieve` itself, which is run and listened to; nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from contracts import Intent, RetrievedContext, RetrievedPassage

from .ranking import Ranking, best, fuse
from .retrieve import Found, Search, Shortlist, look_again, retrieve, shortlist


@dataclass(frozen=True)
class Part:
    """What one signal or feature adds to a score: `points`, of a `value` that has its own scale."""

    name: str
    value: float
    points: float


@dataclass(frozen=True)
class Moved:
    """The feature by which a passage overtook others, or was overtaken, and by how much on average.

    `by`: None where others were left out and nobody was overtaken.
    """

    by: str | None
    points: float


@dataclass(frozen=True)
class Explained:
    """A passage with its ranks among all candidates by each signal; None: not found by that one.

    Invariant: the points of `fused` sum to the passage's `hybrid_score`, those of `told` to its
    `rerank_score`; `told` is empty where it was not looked at again.
    """

    passage: RetrievedPassage
    keyword_rank: int | None
    vector_rank: int | None
    fused: tuple[Part, ...]
    told: tuple[Part, ...]
    moved: Moved | None


@dataclass(frozen=True)
class Explanation:
    """What `retrieve` returned, and why. `candidates`: how many passages were scored; `sought` as of `Found`."""

    context: RetrievedContext
    candidates: int
    passages: tuple[Explained, ...]
    sought: str | None = None


async def explain(intent: Intent, *, search: Search, ranking: Ranking) -> Explanation:
    """Retrieve for an intent, and tell why."""
    heard: list[Found] = []

    async def listening(text: str, labels: tuple[str, ...]) -> Found:
        heard.append(await search(text, labels))
        return heard[-1]

    whole = replace(ranking, parts=False)  # one search, one explanation
    context = await retrieve(intent, search=listening, ranking=whole)
    return explanation(context, heard[0], ranking)


def explanation(context: RetrievedContext, found: Found, ranking: Ranking) -> Explanation:
    """Why a context is what it is, from what it was made of."""
    words = found.keyword_scores
    near = found.vector_scores or [0.0] * len(words)
    alpha = 1.0 if found.vector_scores is None else ranking.alpha
    # A list of zeros adds nothing, so that each half is what it gives to the whole.
    nothing = [0.0] * len(words)
    by_words = fuse(words, nothing, alpha, ranking.fusion)
    by_vectors = fuse(nothing, near, alpha, ranking.fusion)
    word_ranks, near_ranks = _ranks(words), _ranks(near)
    top = shortlist(found, ranking)
    told = _told(context, found, top, ranking)

    def explained(passage: RetrievedPassage) -> Explained:
        at = top.positions[passage.hybrid_rank - 1]
        fused = (
            Part("keyword", words[at], by_words[at]),
            Part("vector", near[at], by_vectors[at]),
        )
        return Explained(
            passage,
            keyword_rank=word_ranks.get(at),
            vector_rank=near_ranks.get(at),
            fused=fused if found.vector_scores is not None else fused[:1],
            told=told.get(passage.hybrid_rank, ()),
            moved=_moved(passage, context, top, told),
        )

    told_of = tuple(map(explained, context.passages))
    return Explanation(context, len(words), told_of, found.sought)


Told = Mapping[int, tuple[Part, ...]]
"""By the rank that fusion gave: it names a passage of the shortlist, also one that was merged with its neighbours."""


def _ranks(scores: Sequence[float]) -> dict[int, int]:
    """The rank of each position that a signal found, from 1."""
    order = best(scores, len(scores), [at for at, score in enumerate(scores) if score > 0.0])
    return {at: rank for rank, at in enumerate(order, start=1)}


def _told(context: RetrievedContext, found: Found, top: Shortlist, ranking: Ranking) -> Told:
    """What the second look said of each passage."""
    if ranking.rerank != "linear":
        return {
            passage.hybrid_rank: (Part(ranking.rerank, passage.rerank_score, passage.rerank_score),)
            for passage in context.passages
            if passage.rerank_score is not None
        }
    features = look_again(context.intent.cleaned_text, found, top, ranking)
    return {
        rank: tuple(
            Part(name, value, ranking.weights.get(name, 0.0) * value)
            for name, value in asdict(each).items()
            if name != "sentence" or found.nearest is not None
        )
        for rank, each in enumerate(features, start=1)
    }


def _moved(
    passage: RetrievedPassage, context: RetrievedContext, top: Shortlist, told: Told
) -> Moved | None:
    """Why a passage is not where fusion had put it; None where it is."""
    was, now = passage.hybrid_rank, passage.final_rank
    if was == now:
        return None
    final = {each.hybrid_rank: each.final_rank for each in context.passages}
    last = len(top.passages) + 1
    passed = [
        told[before]
        for before in range(1, last)
        if (before - was) * (final.get(before, last) - now) < 0 and before in told
    ]
    lead = _lead(told.get(was, ()), passed)
    if not lead:
        return Moved(None, 0.0)
    by = max(lead, key=lambda name: lead[name] if now < was else -lead[name])
    return Moved(by, lead[by])


def _lead(own: Sequence[Part], others: Sequence[Sequence[Part]]) -> dict[str, float]:
    """By how many points a passage is ahead of the others' mean, by feature."""
    if not others:
        return {}
    return {
        part.name: part.points - sum(other[at].points for other in others) / len(others)
        for at, part in enumerate(own)
    }
