"""Whether a keyword occurs in a text, by one of two rules."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from .tokens import stem, words

Matching = Literal["substring", "words"]


def occurs(keyword: str, text: str, matching: Matching) -> bool:
    """Whether a keyword is in a text: as a substring, or as whole words whatever their form."""
    return occurring(text, matching)(keyword)


def occurring(text: str, matching: Matching) -> Callable[[str], bool]:
    """Whether keywords are in this text: for many of them in a row."""
    lowered = text.lower()
    if matching == "substring":
        return lambda keyword: keyword.lower() in lowered
    of_text = _of_text(text)

    def is_in(keyword: str) -> bool:
        terms = _of_keyword(keyword)
        return terms in of_text if terms else keyword.lower() in lowered

    return is_in


def _terms(text: str) -> str:
    stems = [stem(word) for word in words(text)]
    return f" {' '.join(stems)} " if stems else ""


_of_keyword = lru_cache(maxsize=8_192)(_terms)
_of_text = lru_cache(maxsize=4)(_terms)  # one question meets hundreds of keywords in a row
