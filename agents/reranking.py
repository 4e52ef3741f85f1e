"""A second look at the best passages: features of question and passage, weighed linearly. Pure.

Everything is computed from the candidates themselves, so that nothing hidden can leave a trace.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from .tokens import Analyzer, words

FEEDBACK = 2
"""The passages that are taken for relevant until more is known. More than two drift: measured."""
NEAR = 8
"""Terms that are further apart say nothing of each other."""
Places = Mapping[str, Sequence[int]]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Candidate:
    """A passage as reranking sees it.

    `feedback`: its cosine with the mean of the FEEDBACK best, times the share of documents among the candidates: all
    of it where each is of a document of its own. `sentence`: the cosine of its best sentence, in its place.
    """

    heading: str
    text: str
    keyword: float
    vector: float
    feedback: float
    sentence: float = 0.0


@dataclass(frozen=True)
class Features:
    """What tells for a passage; each name is that of a weight.

    `keyword`: its BM25 as a share of the best's. `vector`, `feedback`: the candidate's. `pairs`: how closely
    neighbours in the question stand together, as a share of what all weigh. `numbers`: the share of
    the question's words with a digit that it has. `sentence`: how far its best sentence is behind the best of all.
    """

    keyword: float
    vector: float
    feedback: float
    pairs: float
    numbers: float
    sentence: float = 0.0


def weighed(features: Features, weights: Mapping[str, float]) -> float:
    """The sum of the features, each times its weight; 0 for one without."""
    told: dict[str, float] = asdict(features)
    return sum(weights.get(name, 0.0) * value for name, value in told.items())


def features(question: str, candidates: Sequence[Candidate], analyze: Analyzer) -> list[Features]:
    """The features of each candidate, where terms that are rare among the candidates weigh most."""
    asked = list(dict.fromkeys(pairwise(analyze(question))))
    numbers = {word for word in words(question) if any(letter.isdigit() for letter in word)}
    told = [analyze(candidate.text) for candidate in candidates]
    heads = [analyze(candidate.heading) for candidate in candidates]
    has = [{*text, *head} for text, head in zip(told, heads, strict=True)]
    weights = _rarity({term for pair in asked for term in pair}, has)
    best = max((candidate.keyword for candidate in candidates), default=0.0)
    nearest = max((candidate.sentence for candidate in candidates), default=0.0)
    return [
        Features(
            keyword=_share(candidate.keyword, best),
            vector=candidate.vector,
            feedback=candidate.feedback,
            pairs=_closeness(asked, _places(weights, text), weights),
            numbers=_share(len(numbers & _words(candidate)) if numbers else 0, len(numbers)),
            sentence=candidate.sentence - nearest,
        )
        for candidate, text in zip(candidates, told, strict=True)
    ]


def _words(candidate: Candidate) -> set[str]:
    return {*words(candidate.heading), *words(candidate.text)}


def _rarity(terms: set[str], texts: Sequence[set[str]]) -> dict[str, float]:
    """The idf of each term among these texts."""
    counts = Counter(term for text in texts for term in terms & text)
    return {
        term: math.log(1.0 + (len(texts) - counts[term] + 0.5) / (counts[term] + 0.5))
        for term in terms
    }


def _places(terms: Mapping[str, float], text: Sequence[str]) -> Places:
    """Where each of the terms is in a text."""
    places: dict[str, list[int]] = {term: [] for term in terms}
    for place, term in enumerate(text):
        if term in places:
            places[term].append(place)
    return places


def _closeness(asked: Sequence[Pair], places: Places, weights: Mapping[str, float]) -> float:
    weigh = {pair: weights[pair[0]] + weights[pair[1]] for pair in asked}
    close = sum(weight * _close(_distance(*pair, places)) for pair, weight in weigh.items())
    return _share(close, sum(weigh.values()))


def _close(distance: int | None) -> float:
    """1 for neighbours in order, less for each place between them, half of that the other way round."""
    if distance is None or abs(distance) > NEAR:
        return 0.0
    return 1.0 / distance if distance > 0 else -0.5 / distance


def _distance(left: str, right: str, places: Places) -> int | None:
    """From the first term to the nearest of the second, whichever side; forward if both are as near."""
    gaps = (after - before for before in places[left] for after in places[right] if after != before)
    return min(gaps, key=lambda gap: (abs(gap), -gap), default=None)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
