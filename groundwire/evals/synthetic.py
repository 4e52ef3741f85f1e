"""Passages, queries and vectors of any number, made from a seed: for measures of scale, not of quality."""

from collections.abc import Iterator
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

WORD_TYPES = 60_000
ZIPF = 1.07
PASSAGE_WORDS = 40
RARE_FROM = 100
RARE_WORDS, ANY_WORDS = 5, 2
DIMENSIONS = 384
CLUSTERS = 1_000
BATCH = 10_000

# The commonest words of a language are its stop words, here as in life; these are among tantivy's for English.
STOP_WORDS = (
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "it",
    "that",
    "for",
    "with",
    "as",
    "was",
    "be",
    "on",
)

Vectors = NDArray[np.float32]


def words() -> list[str]:
    """Word types by rank; those after the stop words end in letters that no stemmer takes off."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aou")]
    made = ("".join(parts) for size in (2, 3) for parts in product(syllables, repeat=size))
    return [*STOP_WORDS, *islice(made, WORD_TYPES - len(STOP_WORDS))]


def passages(size: int, seed: int) -> Iterator[str]:
    """Texts of 40 words, each drawn by Zipf's law."""
    known = np.array(words(), dtype=object)
    dice = np.random.default_rng(seed)
    upto = np.cumsum(_odds(0))
    for start in range(0, size, BATCH):
        drawn = dice.random((min(BATCH, size - start), PASSAGE_WORDS))
        for row in known[_ranks(upto, drawn)]:
            yield " ".join(row)


def queries(size: int, seed: int) -> Iterator[str]:
    """Texts of 5 words from rank 100 on and 2 from anywhere, drawn by the same law."""
    known = words()
    dice = np.random.default_rng(seed)
    rare, anywhere = np.cumsum(_odds(RARE_FROM)), np.cumsum(_odds(0))
    for _ in range(size):
        ranks = [
            *_ranks(rare, dice.random(RARE_WORDS)),
            *_ranks(anywhere, dice.random(ANY_WORDS)),
        ]
        yield " ".join(known[rank] for rank in ranks)


def vectors(size: int, seed: int) -> Iterator[Vectors]:
    """Unit vectors in batches, around the same 1,000 centres for every seed."""
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, DIMENSIONS), np.float32)
    dice = np.random.default_rng(seed)
    for start in range(0, size, BATCH):
        count = min(BATCH, size - start)
        rows = dice.standard_normal((count, DIMENSIONS), np.float32)
        rows += centres[dice.integers(CLUSTERS, size=count)]
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _odds(first: int) -> NDArray[np.float64]:
    odds = np.arange(1, WORD_TYPES + 1) ** -ZIPF
    odds[:first] = 0
    return np.asarray(odds / odds.sum())


def _ranks(upto: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.minimum(np.searchsorted(upto, drawn, side="right"), WORD_TYPES - 1)
