"""What a corpus is made of: documents, and the passages that point into their text. Values."""

from dataclasses import dataclass, field
from functools import cached_property

PUBLIC = "public"


@dataclass(frozen=True)
class Passage:
    """A span of a document: its text is `document.text[char_start:char_end]`."""

    passage_id: str
    char_start: int
    char_end: int
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A source in its canonical text: UTF-8, line ends as `\\n`, front matter taken off.

    Invariant: every non-blank character of `text` is in one of the `passages`.
    """

    doc_id: str
    title: str
    source: str
    text: str
    labels: tuple[str, ...] = (PUBLIC,)
    markdown: bool = True
    passages: tuple[Passage, ...] = field(default=())

    def text_of(self, passage: Passage) -> str:
        """The words of one of its passages."""
        return self.text[passage.char_start : passage.char_end]

    def passage(self, passage_id: str) -> Passage | None:
        """The passage of this id, if the document has it."""
        return self._by_id.get(passage_id)

    @cached_property
    def _by_id(self) -> dict[str, Passage]:
        return {passage.passage_id: passage for passage in self.passages}


@dataclass(frozen=True)
class Problem:
    """Something that could not be taken in, and why."""

    source: str
    reason: str
