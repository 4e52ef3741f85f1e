"""What kind of answer a question wants, and whether a sentence has one of that kind. Pure; by English words."""

import re
from dataclasses import dataclass
from functools import lru_cache

from .tokens import stem, words

_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|often|far|tall|big|large|high|fast|deep)\b|"
    r"\b(?:percent|percentage|number|population|cost|price|rate)\b"
)
_DATE = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|time)\b")
_WHO = re.compile(r"\b(?:who|whose|whom)\b")
_WHERE = re.compile(r"\bwhere\b")
_WHY = re.compile(r"\b(?:why|how)\b")
_YEAR = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)\b"
)
_CAUSE = re.compile(
    r"\b(?:because|due to|since|so that|in order to|by|caused|reason|result)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|cannot|unable|except|least|non)\b|n['’]t\b",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(?<=[a-z,;:)\"'’] )[A-Z][\w.'-]+")
_GOES_ON = re.compile(
    r"^(?:It|He|She|They|This|These|Those|That|His|Her|Its|Their|Such|However|But|And|Also)\b"
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Wants:
    """The kinds of answer that a question may be after; `cause` means a reason or a way."""

    number: bool
    date: bool
    person: bool
    place: bool
    cause: bool


def wanted(question: str) -> Wants:
    """What a question wants."""
    asked = " ".join(words(question))
    number = _NUMBER.search(asked) is not None
    return Wants(
        number=number,
        date=_DATE.search(asked) is not None,
        person=_WHO.search(asked) is not None,
        place=_WHERE.search(asked) is not None,
        cause=not number and _WHY.search(asked) is not None,
    )


@dataclass(frozen=True)
class Has:
    """What a sentence has. `names`: stems of its capitalised words inside; `goes_on`: it speaks of what was before."""

    stems: frozenset[str]
    length: int
    number: bool
    year: bool
    cause: bool
    negation: bool
    goes_on: bool
    names: tuple[str, ...]
    commas: int


@lru_cache(maxsize=8_192)
def had(sentence: str) -> Has:
    """What is in a sentence."""
    said = words(sentence)
    return Has(
        stems=frozenset(map(stem, said)),
        length=len(said),
        number=_DIGIT.search(sentence) is not None,
        year=_YEAR.search(sentence) is not None,
        cause=_CAUSE.search(sentence) is not None,
        negation=negates(sentence),
        goes_on=_GOES_ON.match(sentence) is not None,
        names=tuple(stem(name.lower()) for name in _INSIDE.findall(sentence)),
        commas=sentence.count(","),
    )


def negates(text: str) -> bool:
    """Whether something is denied."""
    return _NEGATION.search(text) is not None
