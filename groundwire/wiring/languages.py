"""Whether a question is in another language, so clearly that it is refused for it.

Questions are short and identification errs on short texts: where English is answered, a few of its commonest words
count for more. On CLINC150's 15,000 English training questions this refuses 1 in 1,000.
"""

import re
import unicodedata
from dataclasses import dataclass

FEWEST_LETTERS, MANY_LETTERS, FEWEST_WORDS = 12, 20, 3
SURE, SURE_OF_FEW = 0.9, 0.99
_OTHER_SCRIPTS = (
    "am ar be bg bn el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr my ne pa ru sd si sr ta te tg th uk ur "
    "yi zh"
)
OTHER_SCRIPTS = frozenset(_OTHER_SCRIPTS.split())
_ENGLISH = (
    "a an and any are at be but can for from has i is it my of on or that the this to you your about by could did do "
    "does had have how if into its just like our should so some than their them then there these they those was we "
    "were what when where which who why will with would get need please want"
)
ENGLISH = frozenset(_ENGLISH.split())
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Foreign:
    """Tells when a text is surely in none of the languages, which are ISO 639-1 codes."""

    languages: frozenset[str]

    def __call__(self, text: str) -> bool:
        """Whether it is: by its script, or by CLD3 where that is sure."""
        letters = [char for char in text if char.isalpha()]
        if self.languages.isdisjoint(OTHER_SCRIPTS) and _are_other(letters):
            return True
        if len(letters) < FEWEST_LETTERS or ("en" in self.languages and _sounds_english(text)):
            return False
        from groundwire.corpus.reading.language import identified

        code = identified(text, SURE if len(letters) >= MANY_LETTERS else SURE_OF_FEW)
        return code is not None and code not in self.languages


def _are_other(letters: list[str]) -> bool:
    """Whether most letters are of another script than Latin."""
    other = sum(
        not letter.isascii() and not unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER"))
        for letter in letters
    )
    return other > len(letters) / 2


def _sounds_english(text: str) -> bool:
    words = set(_WORD.findall(text.lower()))
    if len(words) < FEWEST_WORDS:
        return (
            True  # too little to tell: a word said three times is no sentence of another language
        )
    known = sum(word in ENGLISH for word in words)
    return known > 1 or known >= len(words) / 4
