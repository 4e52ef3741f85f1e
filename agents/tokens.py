"""Text into tokens: the one tokenizer that classification, search and reranking share."""

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")  # runs of str.isalnum characters
_VOWELS = frozenset("aeiouy")
_SUFFIXES = (("ation", 4), ("able", 4), ("ing", 3), ("ed", 3))
MIN_STEM = 3


def words(text: str) -> list[str]:
    """The lower-cased runs of alphanumeric characters, in order, nothing dropped."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without English plural and verb endings, so that its forms meet in one token."""
    if len(word) <= MIN_STEM or not word.isascii():
        return word
    return _without_tail(_without_suffix(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    for suffix, shortest in _SUFFIXES:
        root = word.removesuffix(suffix)
        if root == word:
            continue
        if len(root) >= shortest and not _VOWELS.isdisjoint(root) and not word.endswith("eed"):
            return root
        return word
    return word


def _without_tail(word: str) -> str:
    """Meet `price`/`pricing`, `bill`/`billed`, `copy`/`copied`."""
    if len(word) > MIN_STEM and word[-1] == "e":
        word = word[:-1]
    if len(word) > MIN_STEM and word[-1] == "y":
        return word[:-1] + "i"
    if len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in _VOWELS:
        return word[:-1]
    return word


@dataclass(frozen=True)
class Analyzer:
    """How a text becomes the terms it is found by."""

    stopwords: frozenset[str] = frozenset()
    stems: bool = False

    def __call__(self, text: str) -> list[str]:
        """The terms of a text, in order, repetitions kept."""
        kept = [word for word in words(text) if word not in self.stopwords]
        return [stem(word) for word in kept] if self.stems else kept
