"""Where sentences end. Spans, never copies.

nupunkt knows abbreviations (pure Python, spans, 7 million characters/s). What was measured beside it: sentencex, 40
million, ends a sentence after "Dr." and panics on U+2028; blingfire, 3.5 million, is 99 MB; syntok makes 0.9 million
and pysbd 0.2. nupunkt takes its ends from Latin scripts only, and may end one inside a link: both are mended here.
"""

import re
from collections import deque
from collections.abc import Iterator

_OTHER_SCRIPTS = re.compile(r"[。！？｡]+[」』”’）)]*\s*|[؟۔।॥።]+\s+")
_WORD = re.compile(r"\S+\s*")
_LONGEST = 1_000
_ENDLESS = re.compile(rf"\S{{{_LONGEST},}}(?=\S{{20}})")
"""Longer than any word or address: nupunkt's time for it grows with its square."""


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, which they cover wholly; blanks go with what precedes."""
    begin = start
    for stop in _OTHER_SCRIPTS.finditer(text, start, end):
        yield from _latin(text, begin, stop.end())
        begin = stop.end()
    yield from _latin(text, begin, end)


def _latin(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    import nupunkt  # late: a process that only searches never cuts

    begin = start
    # No sentence ends before a blank, so what stands within an endless word is of no account.
    plain = _ENDLESS.sub(lambda found: "x" * len(found[0]), text[start:end])
    for _, stop in nupunkt.sent_spans(plain) if end > start else ():
        after = start + stop
        if after < end and text[after - 1].isspace():
            yield begin, after
            begin = after
    if begin < end:
        yield begin, end


def last_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The last of the sentences of `text[start:end]`."""
    return deque(sentences(text, start, end), maxlen=1)[0]


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
