"""Word documents into documents: paragraphs, headings, lists and tables in their order, as Markdown.

Headers and footers of pages are left out, and so are deletions that are tracked; insertions are in.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .extra import MISSING
from .made import Said, made
from .metadata import iso_date, language_code
from .source import Reading, Source
from .text import canonical

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

MOST_UNPACKED_BYTES = 512 * 1024 * 1024
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_UNSEEN = frozenset({_FALLBACK, f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText"})
_SIGNS = {f"{_W}tab": " ", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def docx(source: Source) -> Reading:
    """A .docx file; one that is none, or unpacks to more than fits, is refused with the reason."""
    try:
        import docx as python_docx
    except ImportError:
        return Reading.refused(source, MISSING)
    try:
        with zipfile.ZipFile(io.BytesIO(source.raw)) as parts:
            if sum(part.file_size for part in parts.infolist()) > MOST_UNPACKED_BYTES:
                return Reading.refused(source, f"unpacks to more than {MOST_UNPACKED_BYTES} bytes")
        found = python_docx.Document(io.BytesIO(source.raw))
        text = canonical("\n\n".join(_blocks(found, found.element.body)))
        said = _said(found)
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError, RecursionError) as error:
        return Reading.refused(source, f"cannot be opened as a Word document: {error}")
    return made(source, text, said)


def _said(document: "WordDocument") -> Said:
    about = document.core_properties
    return Said(
        title=" ".join(about.title.split()) or None,
        published=iso_date(about.created),
        modified=iso_date(about.modified),
        language=language_code(about.language),
    )


def _blocks(document: "WordDocument", parent: Any) -> Iterator[str]:
    """The blocks of a body or a cell; consecutive list items are one."""
    items: list[str] = []
    for element in _elements(parent):
        block = _table(document, element) if element.tag == f"{_W}tbl" else None
        item = None if block is not None else _item(document, element)
        if item:
            items.append(item)
            continue
        if items:
            yield "\n".join(items)
            items = []
        block = _paragraph(document, element) if block is None else block
        if block:
            yield block
    if items:
        yield "\n".join(items)


def _elements(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables, those inside content controls too."""
    for element in parent.iterchildren():
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        elif element.tag == f"{_W}sdt":
            for content in element.iterchildren(f"{_W}sdtContent"):
                yield from _elements(content)
        elif element.tag in (f"{_W}ins", f"{_W}moveTo", f"{_W}customXml", f"{_W}smartTag"):
            yield from _elements(element)


def _paragraph(document: "WordDocument", element: Any) -> str:
    text = _words(element)
    level = _heading_level(_style(document, element))
    return f"{'#' * level} {' '.join(text.split())}" if level and text else text


def _item(document: "WordDocument", element: Any) -> str | None:
    """A paragraph of a list, indented by its level; None if it is no such."""
    style = _style(document, element)
    numbering = element.find(f"{_W}pPr/{_W}numPr")
    if _heading_level(style) or not (numbering is not None or style.startswith("list ")):
        return None
    level = None if numbering is None else numbering.find(f"{_W}ilvl")
    depth = 0 if level is None else int(level.get(f"{_W}val", 0))
    text = _words(element)
    return f"{'  ' * depth}- {' '.join(text.split())}" if text else None


def _table(document: "WordDocument", element: Any) -> str:
    """Rows as they stand; the first is the header."""
    rows = [
        [
            " ".join(" ".join(_blocks(document, cell)).split()).replace("|", "\\|")
            for cell in row.iterchildren(f"{_W}tc")
        ]
        for row in element.iter(f"{_W}tr")
        if next(row.iterancestors(f"{_W}tbl")) is element
    ]
    rows = [cells for cells in rows if any(cells)]
    if not rows:
        return ""
    width = max(len(cells) for cells in rows)
    lines = [f"| {' | '.join(cells + [''] * (width - len(cells)))} |" for cells in rows]
    return "\n".join((lines[0], f"|{' --- |' * width}", *lines[1:]))


def _words(element: Any) -> str:
    """The text of a paragraph as it is shown."""
    lines = "".join(_shown(element)).split("\n")
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)


def _shown(element: Any) -> Iterator[str]:
    for child in element.iterchildren():
        if child.tag in _UNSEEN:
            continue
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        else:
            yield from _shown(child)
            if child.tag == f"{_W}p":  # of a text box inside the paragraph
                yield "\n"


def _style(document: "WordDocument", element: Any) -> str:
    """The name of a paragraph's style in lower case, in English whatever Word's language."""
    properties = element.find(f"{_W}pPr/{_W}pStyle")
    key = None if properties is None else properties.get(f"{_W}val")
    styles = document.styles.element.iterchildren(f"{_W}style")
    for style in styles if key else ():
        if style.get(f"{_W}styleId") == key:
            name = style.find(f"{_W}name")
            return str(name.get(f"{_W}val", "")).lower() if name is not None else ""
    return ""


def _heading_level(style: str) -> int:
    if style == "title":
        return 1
    name, _, level = style.rpartition(" ")
    return min(int(level), 6) if name == "heading" and level.isdigit() else 0
