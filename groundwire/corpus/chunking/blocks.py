"""A text into blocks, the pieces a reader sees: headings, paragraphs, list items, table rows, code.

Whole lines, and every line that isn't blank is in one block. markdown-it-py says where blocks are; what it takes for
no text, such as link definitions, is a paragraph here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from .sentences import last_sentence

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["heading", "paragraph", "item", "header", "row", "code"]
Span = tuple[int, int]

MAX_LEAD_IN = 240
_LEAVES: dict[str, Kind] = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "fence": "code",
    "code_block": "code",
    "html_block": "paragraph",
    "hr": "paragraph",
    "tr_open": "row",
}
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})


@dataclass(slots=True)
class Block:
    """A span without blanks around it. `level`: of a heading.

    `group`: blocks with the same number belong together, as a table's rows or a list and its lead-in do; 0 is none.
    `context`: the span that this block needs to be understood: a row its header, an item its lead-in.
    """

    start: int
    end: int
    kind: Kind = "paragraph"
    level: int = 0
    name: str = ""
    group: int = 0
    context: Span | None = None


def blocks(text: str, *, markdown: bool) -> list[Block]:
    """The blocks of a text in order; plain text has paragraphs only."""
    lines = _Lines(text)
    return _Page(lines).read() if markdown else list(lines.paragraphs(0, lines.count))


class _Lines:
    """A text by lines, counted from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")
        self.count = len(self._lines)
        self.starts = [0]
        for line in self._lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def block(self, first: int, end: int, kind: Kind) -> Block | None:
        """The lines as a block, without blanks around it; None if all is blank."""
        start, stop = self.starts[first], self.starts[end] - 1
        words = self.text[start:stop]
        stripped = words.lstrip()
        if not stripped:
            return None
        start = stop - len(stripped)
        return Block(start, start + len(stripped.rstrip()), kind)

    def paragraphs(self, first: int, end: int) -> Iterator[Block]:
        """The runs of lines that aren't blank."""
        begin = first
        for number in range(first, end):
            if not self._lines[number] or self._lines[number].isspace():
                if begin < number and (block := self.block(begin, number, "paragraph")):
                    yield block
                begin = number + 1
        if begin < end and (block := self.block(begin, end, "paragraph")):
            yield block


class _Page:
    """A page of Markdown, read from its first token to its last."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._blocks: list[Block] = []
        self._next_line = 0
        self._groups = 0
        self._lists: list[_List] = []
        self._header: Block | None = None

    def read(self) -> list[Block]:
        """All blocks; what lies between those of the parser are paragraphs."""
        tokens = _parser().parse(self._lines.text.replace("\r", " "))
        for at, token in enumerate(tokens):
            if token.type in _LISTS:
                self._open_list()
            elif token.type == "list_item_open":
                self._lists[-1].first_of_item = None
                self._lists[-1].begins_item = True
            elif token.nesting < 0 and token.type in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
            elif token.type == "thead_open":
                self._groups += 1
                self._header = None
            elif (kind := _LEAVES.get(token.type)) and token.map:
                self._leaf(kind, token, tokens[at + 1] if at + 1 < len(tokens) else token)
        self._fill(self._lines.count)
        return self._blocks

    def _leaf(self, kind: Kind, token: "Token", inner: "Token") -> None:
        first, end = token.map or (0, 0)
        self._fill(first)
        block = self._lines.block(max(first, self._next_line), end, kind) if end > first else None
        self._next_line = max(self._next_line, end)
        if block is None:
            return
        if kind == "heading":
            self._name(block, token, inner)
        elif kind == "row":
            self._place_row(block)
        elif self._lists:
            self._place_in_list(block)
        self._blocks.append(block)

    def _fill(self, line: int) -> None:
        """Lines that no token covers: a paragraph each run; a table's rule goes with its header."""
        if line <= self._next_line:
            return
        for block in self._lines.paragraphs(self._next_line, line):
            last = self._blocks[-1] if self._blocks else None
            if last is not None and last.kind == "header" and last is self._header:
                last.end = block.end
            else:
                self._blocks.append(block)
        self._next_line = line

    def _name(self, block: Block, token: "Token", inner: "Token") -> None:
        if token.level:  # in a quote or a list it opens no section
            block.kind = "paragraph"
            return
        block.level, block.name = int(token.tag[1]), " ".join(inner.content.split())

    def _place_row(self, block: Block) -> None:
        block.group = self._groups
        if self._header is None:
            block.kind, self._header = "header", block
        else:
            header = self._header
            stop = self._lines.text.find("\n", header.start, header.end)
            block.context = (header.start, header.end if stop < 0 else stop)

    def _open_list(self) -> None:
        last = self._blocks[-1] if self._blocks else None
        if self._lists:
            outer = self._lists[-1]
            self._lists.append(_List(outer.group, outer.first_of_item or outer.lead_in))
            return
        self._groups += 1
        lead_in = None
        if last is not None and last.kind == "paragraph" and not last.group:
            lead_in = _lead_in(self._lines.text, last)
            if lead_in is not None:
                last.group = self._groups
        self._lists.append(_List(self._groups, lead_in))

    def _place_in_list(self, block: Block) -> None:
        inside = self._lists[-1]
        block.group = inside.group
        if inside.begins_item:
            block.kind, block.context = "item", inside.lead_in
            inside.begins_item = False
            inside.first_of_item = _last_words(self._lines.text, block)
        else:
            block.context = inside.first_of_item or inside.lead_in


@dataclass(slots=True)
class _List:
    group: int
    lead_in: Span | None
    first_of_item: Span | None = None
    begins_item: bool = False


def _lead_in(text: str, block: Block) -> Span | None:
    """What of a paragraph introduces the list after it: its last sentence, if that isn't finished."""
    ends = text[block.end - 1]
    if ends in ".!?。！？…" or text[block.start] in "<[":
        return None
    return _last_words(text, block)


def _last_words(text: str, block: Block) -> Span:
    if block.end - block.start <= MAX_LEAD_IN:
        return block.start, block.end
    start, end = last_sentence(text, block.start, block.end)
    if end - start > MAX_LEAD_IN:
        blank = text.find(" ", end - MAX_LEAD_IN, end)
        start = end - MAX_LEAD_IN if blank < 0 else blank + 1
    return start, end


@cache
def _parser() -> "MarkdownIt":
    """CommonMark with tables; what's within a line isn't parsed, which takes half the time."""
    from markdown_it import MarkdownIt  # late: a process that only searches never parses

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline"])
    return parser
