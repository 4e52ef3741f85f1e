"""Where sentences end: by punctuation, minding abbreviations. Spans, never copies."""

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*\s+|[。！？]+\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|fig|mr|mrs|ms|dr|st|inc|ltd|[a-z])\.\s*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+\s*")


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, which they cover wholly; blanks go with what precedes."""
    begin = start
    for stop in _END.finditer(text, start, end):
        after = stop.end()
        if after >= end or text[after].islower() or _ABBREVIATION.search(text[begin:after]):
            continue
        yield begin, after
        begin = after
    if begin < end:
        yield begin, end


def words(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Pieces of at most `size` characters, cut between words where a word isn't longer."""
    begin = stop = start
    for word in _WORD.finditer(text, start, end):
        if word.end() - begin > size and stop > begin:
            yield begin, stop
            begin = stop
        stop = word.end()
        while stop - begin > size:
            yield begin, begin + size
            begin += size
    if begin < end:
        yield begin, end
