"""Which language a text is in, where its source doesn't say so: by CLD3, whose model is in its package."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gcld3

SAMPLE_CHARS = 1_000
FEWEST_LETTERS = 40
LEAST_PROBABILITY = 0.9


def detected(text: str) -> str | None:
    """The ISO 639-1 code of a text's beginning; None where it is too short or not clear."""
    sample = text[:SAMPLE_CHARS]
    if sum(map(str.isalpha, sample)) < FEWEST_LETTERS:
        return None
    return identified(sample, LEAST_PROBABILITY)


def identified(text: str, least: float) -> str | None:
    """The ISO 639-1 code of a text's language; None unless CLD3 is as sure as `least`."""
    found = _detector().FindLanguage(text=text[:SAMPLE_CHARS])
    if not found.is_reliable or found.probability < least:
        return None
    code = str(found.language).split("-")[0]
    return {"iw": "he", "und": None}.get(code, code)


@cache
def _detector() -> "gcld3.NNetLanguageIdentifier":
    import gcld3

    return gcld3.NNetLanguageIdentifier(0, SAMPLE_CHARS)
