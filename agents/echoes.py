"""How much of a question's wording a sentence has: in its order, by how words begin, its numbers and names. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .naming import Named, Told, named_in, told
from .tokens import stem, words

BEGINS = 5
"""Letters that words begin with when they are of one family, as `resident` and `residence`."""


@dataclass(frozen=True)
class Wording:
    """A question, to be found again. `families`: of each word that counts its stem, and how it begins."""

    sequence: tuple[str, ...]
    families: tuple[tuple[str, str], ...]
    named: Named


def wording(question: str, terms: Sequence[str], stems: Sequence[str]) -> Wording:
    """Read a question. `stems`: of its words that count, one by one."""
    families = zip(stems, (term[:BEGINS] for term in terms), strict=True)
    return Wording(tuple(map(stem, words(question))), tuple(families), named_in(question))


@dataclass(frozen=True)
class _Said:
    sequence: tuple[str, ...]
    begins: frozenset[str]
    told: Told


@lru_cache(maxsize=8_192)
def _said(sentence: str) -> _Said:
    plain = words(sentence)
    begins = frozenset(word[:BEGINS] for word in plain if len(word) >= BEGINS)
    return _Said(tuple(map(stem, plain)), begins, told(sentence))


def echoes(asked: Wording, sentence: str) -> dict[str, float]:
    """The features of one sentence."""
    said, named = _said(sentence), asked.named
    begun = sum(
        own in said.told.stems or beginning in said.begins for own, beginning in asked.families
    )
    return {
        "ordered": _common(asked.sequence, said.sequence) / max(1, len(asked.sequence)),
        "begun": begun / max(1, len(asked.families)),
        "says_numbers": float(
            sum(map(said.told.has_number, named.numbers))
            + sum(map(said.told.has_words, named.dates))
        ),
        "says_names": sum(map(said.told.has_words, named.names)) / max(1, len(named.names)),
    }


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(other) + 1)
    for word in one:
        corner = 0
        for at, same in enumerate(other, 1):
            above = best[at]
            best[at] = corner + 1 if word == same else max(above, best[at - 1])
            corner = above
    return best[-1]
