"""Two real questions asked as one, as people ask them: what compound questions are developed on. Seeded."""

import random
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

SEED = 11
LEAST_LEAD = 2
"""Words that two questions have to begin with alike for the second to leave them out."""
OWN, OTHERS = 0.75, 0.25
"""Of a question's own words so many have to be in its part, and of the other's at most so many."""
_OPENER = re.compile(
    r"(?:how|what|when|where|who|which|why|whose|is|are|am|do|does|did|can|could|will|would|should|may|must|has|have|"
    r"was|were|in|on|at|to|from|by|for|if)\b",
    re.IGNORECASE,
)

_WORD = re.compile(r"[^\W_]+")
One = TypeVar("One")


@dataclass(frozen=True)
class Joined:
    """One text that asks two questions; `form`: how they were joined."""

    text: str
    one: str
    two: str
    form: str


FORMS: dict[str, Callable[[str, str], str]] = {
    "comma and": lambda one, two: f"{one}, and {two}?",
    "and": lambda one, two: f"{one} and {two}?",
    "one after the other": lambda one, two: f"{one}? {two[:1].upper()}{two[1:]}?",
    "also": lambda one, two: f"{one}? Also, {two}?",
    "as well as": lambda one, two: f"{one} as well as {two}?",
    "plus": lambda one, two: f"{one}, plus {two}?",
    "asked to tell": lambda one, two: f"Can you tell me {_small(one)}, and also {two}?",
    "announced": lambda one, two: f"Two things: {_small(one)}, and {two}?",
}
SHARED = {"shared and": "and", "shared as well as": "as well as"}
"""Where both begin alike, the second says only what it says else."""


def pairs(
    asked: Sequence[One], apart: Callable[[One], Hashable], seed: int = SEED
) -> list[tuple[One, One]]:
    """Each question with another one that is apart from it; none twice, in random order."""
    chance = random.Random(seed)  # noqa: S311 - a construction, not secrecy
    left = chance.sample(list(asked), len(asked))
    found = []
    while left:
        one = left.pop()
        at = next((at for at in reversed(range(len(left))) if apart(left[at]) != apart(one)), None)
        if at is not None:
            found.append((one, left.pop(at)))
    return found


def joined(texts: Sequence[tuple[str, str]]) -> Iterator[Joined]:
    """Each pair in one of the forms, in turn; the shared ones for those that begin alike."""
    plain, shared = list(FORMS.items()), list(SHARED.items())
    for at, (one, two) in enumerate(texts):
        ask, more = one.rstrip(" ?."), two.rstrip(" ?.")
        if lead := _lead(ask, more):
            name, word = shared[at % len(shared)]
            yield Joined(f"{ask} {word} {more[lead:].strip()}?", one, two, name)
        else:
            name, form = plain[at % len(plain)]
            yield Joined(form(ask, _small(more)), one, two, name)


def _lead(one: str, two: str) -> int:
    """The characters of the words that both begin with, if those are enough and neither ends with them."""
    ones, twos = one.split(), two.split()
    count = next(
        (
            at
            for at, pair in enumerate(zip(ones, twos, strict=False))
            if pair[0].lower() != pair[1].lower()
        ),
        min(len(ones), len(twos)),
    )
    if count < LEAST_LEAD or count in (len(ones), len(twos)):
        return 0
    return len(" ".join(twos[:count]))


def _small(text: str) -> str:
    """A question inside a sentence begins small, unless it begins with a name."""
    return text[:1].lower() + text[1:] if _OPENER.match(text) else text


def are_apart(parts: Sequence[str], asked: Joined, stop_words: Collection[str]) -> bool:
    """Whether each of the two questions has a part of its own."""
    one, two, *told = (_words(text) - set(stop_words) for text in (asked.one, asked.two, *parts))
    firsts = {at for at, part in enumerate(told) if _is(part, one, two)}
    seconds = {at for at, part in enumerate(told) if _is(part, two, one)}
    return any(first != second for first in firsts for second in seconds)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _is(part: set[str], own: set[str], other: set[str]) -> bool:
    strange = other - own
    return len(part & own) >= OWN * len(own) and len(part & strange) <= OTHERS * len(strange)
