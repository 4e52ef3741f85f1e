"""PDF into documents, by PDFium: the text of each page in its order, without what every page repeats."""

import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..model import Origin
from .extra import MISSING
from .glyphs import glyph_fonts, letters, misses_letters
from .made import Said, made
from .metadata import iso_date
from .printed import PrintedLine, running_text
from .source import Reading, Source

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

_PDFIUM = threading.Lock()
"""PDFium may not be called from two threads at once."""

_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?")
_FILE_NAME = re.compile(r"\.\w{2,4}$|^Microsoft \w+ - |^untitled", re.IGNORECASE)
MAX_TITLE_CHARS = 120


def pdf(source: Source) -> Reading:
    """A PDF that has text; one that is locked, broken or only pictures is refused with the reason."""
    try:
        import pypdfium2
    except ImportError:
        return Reading.refused(source, MISSING)
    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(source.raw)
        except pypdfium2.PdfiumError as error:
            return Reading.refused(source, f"cannot be opened as a PDF: {error}")
        try:
            pages = _pages(document)
            about = document.get_metadata_dict()
        except pypdfium2.PdfiumError as error:
            return Reading.refused(source, f"cannot be read as a PDF: {error}")
        finally:
            document.close()
    if any(misses_letters("".join(line.text for line in page)) for page in pages):
        return Reading.refused(
            source,
            "its fonts don't say which letters they draw: export it anew, or run OCR over it",
        )
    text, starts = running_text(pages)
    if not text.strip():
        return Reading.refused(source, "has no text: pictures of pages need OCR first")
    origin = Origin("page", starts, tuple(range(1, len(starts) + 1)))
    return made(source, text, _said(about, text), markdown=False, origin=origin)


def _said(about: dict[str, str], text: str) -> Said:
    title = " ".join(about.get("Title", "").split())
    first = text.split("\n", 1)[0]
    if not title or _FILE_NAME.search(title):
        title = first if len(first) <= MAX_TITLE_CHARS else ""
    return Said(
        title=title or None,
        published=_date(about.get("CreationDate", "")),
        modified=_date(about.get("ModDate", "")),
    )


def _date(text: str) -> str | None:
    found = _DATE.match(text)
    if found is None:
        return None
    year, month, day = (found[n] or "01" for n in (1, 2, 3))
    return iso_date(f"{year}-{month}-{day}")


def _pages(document: "PdfDocument") -> list[list[PrintedLine]]:
    pages = []
    numbered: frozenset[str] | None = None
    for page in document:
        text_page = page.get_textpage()
        text = _characters(text_page)
        if misses_letters(text):
            numbered = _numbered(document) if numbered is None else numbered
            text = letters(text, _fonts(text_page), numbered)
        pages.append(list(_lines(text_page, text)))
        text_page.close()
        page.close()
    return pages


def _numbered(document: "PdfDocument") -> frozenset[str]:
    """The fonts of a document whose codes are glyph numbers."""
    texts: dict[str, list[str]] = {}
    for page in document:
        text_page = page.get_textpage()
        for character, font in zip(_characters(text_page), _fonts(text_page), strict=True):
            if character not in "\r\n":
                texts.setdefault(font, []).append(character)
        text_page.close()
        page.close()
    return glyph_fonts({font: "".join(characters) for font, characters in texts.items()})


def _characters(page: "PdfTextPage") -> str:
    """One character for each that PDFium counts, so that places in both agree."""
    raw = _raw()
    codes = (raw.FPDFText_GetUnicode(page, n) for n in range(page.count_chars()))
    return "".join(
        chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes
    )


def _fonts(page: "PdfTextPage") -> list[str]:
    import ctypes

    raw, name, flags = _raw(), ctypes.create_string_buffer(200), ctypes.c_int()
    fonts = []
    for n in range(page.count_chars()):
        length = raw.FPDFText_GetFontInfo(page, n, name, 200, flags)
        fonts.append(name.value.decode("utf-8", "replace") if length else "")
    return fonts


def _lines(page: "PdfTextPage", text: str) -> Iterator[PrintedLine]:
    """The lines of a page with the box from their first to their last character."""
    start = 0
    for line in text.split("\n"):
        words = line.strip("\r \x03\t")
        if words:
            first = start + line.index(words[0])
            last = start + line.rindex(words[-1])
            left, bottom, _, top = page.get_charbox(first, loose=True)
            _, bottom_of_last, right, top_of_last = page.get_charbox(last, loose=True)
            yield PrintedLine(line, left, right, min(bottom, bottom_of_last), max(top, top_of_last))
        start += len(line) + 1


def _raw() -> Any:
    import pypdfium2.raw

    return pypdfium2.raw
