"""What of a document isn't its own word is taken out before anything is made of it, and kept beside it. Pure.

Everything else is then as if it had never been there: the text, its passages, each index and statistic. Who tells such
text is passed in.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from .chunking.blocks import Span
from .chunking.pieces import cut
from .model import Aside, Document, Origin, Passage
from .reading.pages import first_heading

_MARKS = re.compile(r"[\W_]*(?:\d+[.)][\W_]*)*")


@dataclass(frozen=True)
class Sieve:
    """Tells which sentences of a document are set aside. Sieves of one `name` tell alike.

    `may`: whether any of a text could be, quickly; `tell`: for all sentences of a document, which characters of each
    are, None where none. Headings begin with a `#`, rows with a `|`; the first is the title.
    """

    name: str
    may: Callable[[str], bool]
    tell: Callable[[Sequence[str]], Sequence[Span | None]]


def sifted(document: Document, sieve: Sieve) -> Document:
    """The document without what is set aside; code stays, and so does all of a document that has nothing of it."""
    if not sieve.may(f"# {document.title}\n\n{document.text}"):
        return document
    spans = list(_sentences(document))
    told = sieve.tell([f"# {document.title}", *(document.text[slice(*span)] for span in spans)])
    strange = [
        (start + part[0], start + part[1])
        for (start, _), part in zip(spans, told[1:], strict=True)
        if part is not None
    ]
    if told[0] is not None:
        name = PurePosixPath(document.source).stem
        document = replace(document, title=name, aside=(Aside(document.doc_id, document.title),))
    return _without(document, _joined(document.text, strange)) if strange else document


def _sentences(document: Document) -> Iterator[Span]:
    """What can be set aside by itself, in order: sentences, headings, items, rows."""
    whole = [(0, len(document.text))]
    parts = [(one.char_start, one.char_end) for one in document.passages] or whole
    for start, end in parts:
        for piece in cut(document.text[start:end], markdown=document.markdown):
            if piece.kind != "code":
                yield start + piece.start, start + piece.end


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans with nothing but blanks between them as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and not text[found[-1][1] : start].strip():
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _without(document: Document, spans: Sequence[Span]) -> Document:
    text = document.text
    aside = tuple(
        Aside(document.doc_id, text[start:end], document.place(start)) for start, end in spans
    )
    kept = _Kept(len(text), [_widened(text, *span) for span in spans])
    rest = kept.of(text)
    return replace(
        document,
        title=_title(document, rest),
        text=rest,
        passages=tuple(_moved(document, rest, kept)),
        origin=None if document.origin is None else _origin(document, document.origin, kept),
        aside=(*document.aside, *aside),
    )


def _title(document: Document, rest: str) -> str:
    """Its title; of a page that is named by its file only, the first heading, which may stand there now."""
    is_named_by_file = document.title == PurePosixPath(document.source).stem
    named = first_heading(rest) if document.markdown and is_named_by_file else ""
    return named or document.title


def _widened(text: str, start: int, end: int) -> Span:
    """A span with the marks and blanks that go with it: what stood around it stands as it stood without it."""
    line, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if text[end:stop].strip():
        return start, len(text) - len(text[end:].lstrip(" \t"))
    if not _MARKS.fullmatch(text[line:start]):
        return len(text[:start].rstrip(" \t")), stop
    above = text[text.rfind("\n", 0, max(line - 1, 0)) + 1 : line]
    if above.strip():  # what stands there ends with the line, or goes on below
        return line, min(stop + 1, len(text))
    after = len(text) - len(text[stop:].lstrip())
    begin = text.rfind("\n", 0, after) + 1
    if text[begin:after] == " ":  # a line was torn apart: nothing else begins with one blank
        return len(text[:line].rstrip()), begin
    return line, begin if after < len(text) else after


class _Kept:
    """What is left of a text of this length without some spans, and where it is then."""

    def __init__(self, length: int, spans: Sequence[Span]) -> None:
        ends = [0, *(place for span in spans for place in span), length]
        self.spans = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
        self.starts = [0]
        for start, end in self.spans:
            self.starts.append(self.starts[-1] + end - start)

    def of(self, text: str) -> str:
        """What is left of the text."""
        return "".join(text[start:end] for start, end in self.spans)

    def place(self, char: int) -> int:
        """Where a character is; of one that is gone, where what followed it is."""
        at = bisect_right([start for start, _ in self.spans], char) - 1
        start, end = self.spans[at]
        return self.starts[at] + min(char, end) - start


def _moved(document: Document, text: str, kept: _Kept) -> Iterator[Passage]:
    """The passages that a document came in, without those of which nothing is left."""
    for one in document.passages:
        start, end = kept.place(one.char_start), kept.place(one.char_end)
        if text[start:end].strip():
            yield replace(one, char_start=start, char_end=end)


def _origin(document: Document, origin: Origin, kept: _Kept) -> Origin:
    """The way back to the source: each stretch begins at the number where it stood."""
    marks: dict[int, int] = {}
    for (start, end), begin in zip(kept.spans, kept.starts, strict=False):
        place = document.place(start)
        if start < end and place is not None:
            marks[begin] = place.number
            inside = zip(origin.starts, origin.numbers, strict=True)
            marks |= {begin + at - start: number for at, number in inside if start < at < end}
    if not marks:
        return Origin(origin.unit)
    return Origin(origin.unit, tuple(marks), tuple(marks.values()))
