"""What a question names that a source can lack: numbers, dates and names. Pure; by their form alone, for any language
that writes them so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .tokens import stem, words

_MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_YEAR = r"(?:1[5-9]|20)\d\d"
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|(?:{_DAY}\s+(?:of\s+)?)?(?:{_MONTH})\.?\s+(?:{_DAY},?\s+)?{_YEAR}|"
    rf"{_DAY}\s+(?:of\s+)?(?:{_MONTH})|(?:{_MONTH})\.?\s+{_DAY}|{_YEAR})(?![\w.,:-]*\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.?!:;]\s*[\"'”’)]*\s*$")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED = {word: str(10 * number) for number, word in enumerate(_TENS.split())} | {
    word: str(number) for number, word in enumerate(_UNITS.split())
}
_NEVER = frozenset({"i", "ok"})
MOST_WORDS = 6


@dataclass(frozen=True)
class Named:
    """The numbers, dates and names of a text, each once, as they are written there."""

    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def named_in(text: str) -> Named:
    """What a question names. A year is a date; a name is a capitalised run of words that no sentence begins with."""
    dates = [found.group() for found in _DATE.finditer(text)]
    rest = _DATE.sub(lambda found: " " * len(found.group()), text)
    numbers = [found.group() for found in _NUMBER.finditer(rest) if _stands_alone(rest, found)]
    return Named(_once(numbers), _once(dates), _once(_names(rest)))


def _once(found: "list[str] | Iterator[str]") -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Whether digits are a number, not a part of a name such as `S3`."""
    before, after = text[: found.start()][-1:], text[found.end() :]
    return not (before.isalpha() or before == "_") and not re.match(r"[^\W\d_]{2}|_", after)


def _names(text: str) -> Iterator[str]:
    found = list(_WORD.finditer(text))
    if sum(word.group()[0].isupper() for word in found) > max(MOST_WORDS, len(found) / 2):
        return  # a headline, or somebody shouts: capitals say nothing here
    run: list[re.Match[str]] = []
    for word in found:
        if run and (not _is_name(text, word) or text[run[-1].end() : word.start()] != " "):
            yield text[run[0].start() : run[-1].end()]
            run = []
        if _is_name(text, word):
            run.append(word)
    if run:
        yield text[run[0].start() : run[-1].end()]


def _is_name(text: str, word: re.Match[str]) -> bool:
    letters = word.group().removesuffix("'s").removesuffix("’s")
    if letters.split("'")[0].split("’")[0].lower() in _NEVER:
        return False
    if any(letter.isupper() for letter in letters[1:]):
        return True
    before = text[: word.start()].rstrip(" \"'“‘(")
    return letters[0].isupper() and bool(before) and not _SENTENCE_END.search(before)


@dataclass(frozen=True)
class Told:
    """What a source says, to look things up in."""

    stems: frozenset[str]
    numbers: frozenset[str]

    def has_number(self, number: str) -> bool:
        """Whether the number occurs, in digits or, up to ninety, in words."""
        return _plain(number) in self.numbers

    def has_words(self, phrase: str) -> bool:
        """Whether each word of a name or a date occurs, in whatever form."""
        return all(
            stem(word) in self.stems or word in self.numbers for word in words(_bare(phrase))
        )


def told(text: str) -> Told:
    """A source's words and numbers."""
    said = words(text)
    digits = {_plain(found.group()) for found in _NUMBER.finditer(text)}
    # Also each group of digits: of `2024-05-01` and `5:30`.
    numbers = digits | {_SPELLED[word] for word in said if word in _SPELLED}
    return Told(frozenset(stem(word) for word in words(_bare(text))), frozenset(numbers))


def _bare(text: str) -> str:
    return text.replace("'s ", " ").replace("’s ", " ")


def _plain(number: str) -> str:
    """`1,000`, `1000` and `1000.00` are one number."""
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", number)
    return re.sub(r"\.0+$", "", plain)
