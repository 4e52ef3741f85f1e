"""Letters of PDF fonts that name no letters: where codes are the glyphs' own numbers in a font that everybody has.

Some exports write Times New Roman and Arial with a table that maps each glyph number to itself. Every reader then shows
"7KLV" for "This". The numbers are those of the font, whose order is Apple's standard one for TrueType (without its
second blank), so the letters can be had back; any other font's can't.
"""

import re
from collections.abc import Mapping, Sequence

FONTS = re.compile(r"(?:[A-Z]{6}\+)?(?:TimesNewRoman|Arial|CourierNew)")
LEAST_WORDS = 0.7
"""So much of a text must be letters and blanks to be one."""

_FIRST = 3  # the blank
_ORDER = "".join(map(chr, range(0x20, 0x7F))) + bytes(range(0x80, 0x100)).decode(
    "mac_roman"
).replace("\xa0", "")
_CONTROL = re.compile("[\x01\x03-\x08\x0b\x0c\x0e-\x1f]")
_BULLET = "\u2022"


def misses_letters(text: str) -> bool:
    """Whether a text has control characters that no printed text has."""
    return len(_CONTROL.findall(text)) * 100 > len(text)


def glyph_fonts(texts: Mapping[str, str]) -> frozenset[str]:
    """The fonts, of those with all their text, whose codes are glyph numbers that can be read."""
    return frozenset(
        font
        for font, text in texts.items()
        if FONTS.match(font) and _CONTROL.search(text) and _reads(text)
    )


def letters(codes: str, fonts: Sequence[str], numbered: frozenset[str]) -> str:
    """A page's characters, those in numbered fonts as the letters of their glyphs."""
    pairs = zip(codes, fonts, strict=True)
    return "".join(_letter(code) if font in numbered else code for code, font in pairs)


def _letter(code: str) -> str:
    if code in "\r\n ":  # put in by the reader, where lines and wide gaps are
        return code
    place = ord(code) - _FIRST
    return _ORDER[place] if 0 <= place < len(_ORDER) else _BULLET


def _reads(text: str) -> bool:
    read = "".join(map(_letter, text))
    return sum(c.isalpha() or c.isspace() for c in read) >= LEAST_WORDS * len(read)
