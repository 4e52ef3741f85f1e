"""Whether a keyword occurs in a text, by one of two rules."""

from functools import lru_cache
from typing import Literal

from .tokens import stem, words

Matching = Literal["substring", "words"]


def occurs(keyword: str, text: str, matching: Matching) -> bool:
    """Whether a keyword is in a text: as a substring, or as whole words whatever their form."""
    if matching == "words" and (terms := _of_keyword(keyword)):
        return terms in _of_text(text)
    return keyword.lower() in text.lower()


def _terms(text: str) -> str:
    stems = [stem(word) for word in words(text)]
    return f" {' '.join(stems)} " if stems else ""


_of_keyword = lru_cache(maxsize=8_192)(_terms)
_of_text = lru_cache(maxsize=4)(_terms)  # one question meets hundreds of keywords in a row
