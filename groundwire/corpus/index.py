"""What finds: BM25 over an inverted index, and cosines of sparse signed-hash vectors. Pure Python.

Okapi BM25 with idf = ln((N - n + 0.5) / (n + 0.5) + 1), which is never negative.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Vector = dict[int, float]


@dataclass(frozen=True)
class Scoring:
    """The parameters of both scores."""

    k1: float = 1.5
    b: float = 0.75
    dimensions: int = 256


@lru_cache(maxsize=65_536)
def _slot(term: str, dimensions: int) -> tuple[int, int]:
    """The dimension and the sign of a term, from its MD5."""
    number = int.from_bytes(hashlib.md5(term.encode(), usedforsecurity=False).digest())
    return number % dimensions, 1 if (number // dimensions) % 2 == 0 else -1


def embed(terms: Iterable[str], dimensions: int) -> Vector:
    """The unit vector of a text's terms, without its zeros; empty when all cancel out."""
    sums: dict[int, int] = defaultdict(int)
    for term in terms:
        place, sign = _slot(term, dimensions)
        sums[place] += sign
    length = math.sqrt(sum(value * value for value in sums.values()))
    return {place: value / length for place, value in sums.items() if value} if length else {}


class Index:
    """The scores of a fixed list of texts, each given as its terms, by position."""

    def __init__(
        self, texts: Sequence[Sequence[str]], vectors: Sequence[Sequence[str]], scoring: Scoring
    ) -> None:
        self._scoring = scoring
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._columns: dict[int, list[tuple[int, float]]] = defaultdict(list)
        mean = sum(len(text) for text in texts) / len(texts) if texts else 0.0
        for position, text in enumerate(texts):
            norm = 1 - scoring.b + scoring.b * (len(text) / mean if mean else 0.0)
            for term, count in Counter(text).items():
                weight = count * (scoring.k1 + 1) / (count + scoring.k1 * norm)
                self._postings[term].append((position, weight))
        for position, terms in enumerate(vectors):
            for place, value in embed(terms, scoring.dimensions).items():
                self._columns[place].append((position, value))

    def keyword_scores(self, terms: Iterable[str]) -> list[float]:
        """The BM25 score of every text for a query's terms."""
        scores = [0.0] * self._size
        for term in terms:
            postings = self._postings.get(term, ())
            idf = math.log((self._size - len(postings) + 0.5) / (len(postings) + 0.5) + 1)
            for position, weight in postings:
                scores[position] += idf * weight
        return scores

    def vector_scores(self, terms: Iterable[str]) -> list[float]:
        """The cosine of every text's vector with the query's."""
        scores = [0.0] * self._size
        for place, asked in embed(terms, self._scoring.dimensions).items():
            for position, value in self._columns.get(place, ()):
                scores[position] += asked * value
        return scores
