"""Elements of HTML as Markdown: headings, paragraphs, lists, tables, code. Words as they are, without emphasis."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li", "main",
        "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
        "ul", *HEADINGS,
    }
)  # fmt: skip

_BLANKS = re.compile(r"[ \t\n\r\f\v]+")


class Writer:
    """Writes elements as Markdown, without those whose `mem_id` is among the `unseen`."""

    def __init__(self, unseen: frozenset[int]) -> None:
        self._unseen = unseen

    def as_markdown(self, node: "LexborNode") -> str:
        """The text of an element, its blocks apart by blank lines."""
        return "\n\n".join(self._blocks(node))

    def _blocks(self, node: "LexborNode") -> Iterator[str]:
        """The blocks inside an element; words between its blocks are paragraphs."""
        words: list[str] = []
        for child in self._children(node, words=True):
            if child.tag in BLOCKS or (child.tag != "-text" and self._holds_blocks(child)):
                yield from _paragraph(words)
                words = []
                yield from self._block(child)
            else:
                words.append(self._inline(child))
        yield from _paragraph(words)

    def _holds_blocks(self, node: "LexborNode") -> bool:
        return any(
            child.tag in BLOCKS or self._holds_blocks(child) for child in self._children(node)
        )

    def _inline(self, node: "LexborNode") -> str:
        if node.tag == "-text":
            return (node.text_content or "").replace("\v", " ")
        if node.tag == "br":
            return "\v"
        return "".join(self._inline(child) for child in self._children(node, words=True))

    def _block(self, node: "LexborNode") -> Iterator[str]:
        tag = node.tag or ""
        if tag in HEADINGS:
            words = " ".join(_tidy(self._inline(node)).split())
            yield from [f"{'#' * HEADINGS[tag]} {words}"] if words else []
        elif tag == "pre":
            yield from _code(node.text())
        elif tag in ("ul", "ol", "menu"):
            items = list(self._items(node, ordered=tag == "ol"))
            yield from ["\n".join(items)] if items else []
        elif tag == "table":
            yield from self._table(node)
        elif tag == "blockquote":
            quoted = "\n\n".join(self._blocks(node))
            yield from (
                ["\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))] if quoted else []
            )
        else:
            yield from self._blocks(node)

    def _items(self, node: "LexborNode", *, ordered: bool) -> Iterator[str]:
        for number, child in enumerate(self._children(node), start=1):
            mark = f"{number}. " if ordered else "- "
            lines = "\n\n".join(self._tightly(child)).split("\n")
            if any(lines):
                indent = " " * len(mark)
                yield "\n".join(
                    (mark + lines[0], *(f"{indent}{line}".rstrip() for line in lines[1:]))
                )

    def _tightly(self, item: "LexborNode") -> Iterator[str]:
        """The blocks of an item, a list inside it right below the words that lead to it."""
        before = ""
        for block in self._block(item) if item.tag in ("ul", "ol") else self._blocks(item):
            if before and re.match(r"(?:-|\d+\.) ", block):
                before = f"{before}\n{block}"
                continue
            if before:
                yield before
            before = block
        if before:
            yield before

    def _table(self, node: "LexborNode") -> Iterator[str]:
        """A table whose cells are words; one that only lays out a page becomes its blocks."""
        rows = [row for row in node.css("tr") if _is_own(row, node)]
        rows = [row for row in rows if row.mem_id not in self._unseen]
        for caption in node.css("caption")[:1]:
            yield from _paragraph([self._inline(caption)])
        if _lays_out(node):
            for row in rows:
                for cell in self._children(row):
                    yield from self._blocks(cell)
            return
        lines = [
            [self._cell(cell) for cell in self._children(row) if cell.tag in ("td", "th")]
            for row in rows
        ]
        lines = [cells for cells in lines if any(cells)]
        if not lines:
            return
        width = max(len(cells) for cells in lines)
        rendered = [f"| {' | '.join(cells + [''] * (width - len(cells)))} |" for cells in lines]
        yield "\n".join((rendered[0], f"|{' --- |' * width}", *rendered[1:]))

    def _cell(self, cell: "LexborNode") -> str:
        return " ".join("\n".join(self._blocks(cell)).split()).replace("|", "\\|")

    def _children(self, node: "LexborNode", *, words: bool = False) -> "Iterator[LexborNode]":
        """The elements right inside an element that are seen, and the words between them."""
        return (
            child for child in node.iter(include_text=words) if child.mem_id not in self._unseen
        )


def _paragraph(words: list[str]) -> Iterator[str]:
    text = _tidy("".join(words))
    if text:
        yield text


def _tidy(text: str) -> str:
    """Runs of blanks as one, line breaks (`\\v` until here) as line ends."""
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\v"))
    return "\n".join(line for line in lines if line)


def _code(text: str) -> Iterator[str]:
    if text.strip():
        ticks = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
        fence = "`" * (ticks + 1)
        yield "\n".join((fence, text.strip("\n"), fence))


def _is_own(row: "LexborNode", table: "LexborNode") -> bool:
    above = row.parent
    while above is not None and above.tag != "table":
        above = above.parent
    return above == table


def _lays_out(table: "LexborNode") -> bool:
    """Whether a table holds what no cell of data does."""
    return bool(table.css("table table, td h1, td h2, td h3, td pre"))
