"""What a corpus is made of: documents, and the passages that point into their text. Values."""

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from contracts.query import PUBLIC

Unit = Literal["line", "page", "row"]


@dataclass(frozen=True)
class Origin:
    """The way back from a text to its source: at character `starts[n]` begins number `numbers[n]`.

    A page or a row lasts until the next one begins. Lines follow one another, so only those where the count
    jumps are listed: mostly one, the line on which the text begins below its front matter.
    Invariant: `starts` begins with 0 and is sorted, and is as long as `numbers`.
    """

    unit: Unit
    starts: tuple[int, ...] = (0,)
    numbers: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class Place:
    """A line, a page or a row of a source, counted from 1."""

    unit: Unit
    number: int


@dataclass(frozen=True)
class Passage:
    """A span of a document: its text is `document.text[char_start:char_end]`.

    `section`: passages of one document with the same number stand under the same heading, and neighbours may be
    read as one. `context`: another span that the passage can't be understood without, such as a table's header.
    """

    passage_id: str
    char_start: int
    char_end: int
    heading_path: tuple[str, ...] = ()
    section: int = 0
    context: tuple[int, int] | None = None


JOINED = ".."
"""Between the ids of the first and the last of several passages that are read as one."""


def joined(first: Passage, last: Passage) -> Passage | None:
    """From the first to the last as one passage; None where they aren't neighbours of one section in that order."""
    if first == last:
        return first
    alike = (first.section, first.heading_path) == (last.section, last.heading_path)
    in_order = first.char_start < last.char_start and first.char_end < last.char_end
    if not alike or not in_order or JOINED in first.passage_id or JOINED in last.passage_id:
        return None
    name = f"{first.passage_id}{JOINED}{last.passage_id}"
    return replace(first, passage_id=name, char_end=last.char_end)


@dataclass(frozen=True)
class Aside:
    """A sentence or a title that isn't a document's own word, and where in its source it stands, as far as known."""

    doc_id: str
    text: str
    place: Place | None = None


@dataclass(frozen=True)
class Document:
    """A source in its canonical text: NFC, line ends as `\\n`, front matter and navigation taken off.

    Dates are what the source says of itself, as ISO 8601; `language` is an ISO 639-1 code. `aside`: what was taken out
    of the text, and of the title, before anything was made of them.
    Invariant: every non-blank character of `text` is in one of the `passages`.
    """

    doc_id: str
    title: str
    source: str
    text: str
    labels: tuple[str, ...] = (PUBLIC,)
    markdown: bool = True
    passages: tuple[Passage, ...] = field(default=())
    origin: Origin | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    aside: tuple[Aside, ...] = ()

    def text_of(self, passage: Passage) -> str:
        """The words of one of its passages."""
        return self.text[passage.char_start : passage.char_end]

    def passage(self, passage_id: str) -> Passage | None:
        """The passage of this id, or the one that its two ids join, if the document has it."""
        known = self._by_id.get(passage_id)
        if known is not None:
            return known
        first, _, last = (self._by_id.get(part) for part in passage_id.partition(JOINED))
        return None if first is None or last is None or first == last else joined(first, last)

    def place(self, char: int) -> Place | None:
        """Where in the source a character of the text stands; None where a source has no places."""
        if self.origin is None:
            return None
        mark = bisect_right(self.origin.starts, char) - 1
        number = self.origin.numbers[mark]
        if self.origin.unit == "line":
            number += self.text.count("\n", self.origin.starts[mark], char)
        return Place(self.origin.unit, number)

    @cached_property
    def _by_id(self) -> dict[str, Passage]:
        return {passage.passage_id: passage for passage in self.passages}


@dataclass(frozen=True)
class Problem:
    """Something that could not be taken in, and why."""

    source: str
    reason: str
