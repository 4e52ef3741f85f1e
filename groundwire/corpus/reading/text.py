"""Bytes into canonical text: one Unicode form (NFC), one kind of line end, no marks that only steer a printer."""

import codecs
import re
import unicodedata

SAMPLE_BYTES = 100_000
"""So much of a text in an unknown encoding is enough to tell which."""

MOST_CONTROLS = 0.05
WESTERN = "cp1252"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x7f]")
_STEERING = re.compile("[\u00ad\ufeff\ufb00-\ufb06]")
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip


class Undecodable(ValueError):
    """The bytes are no text; says why."""


def decoded(raw: bytes, declared: str | None = None) -> str:
    """The canonical text of these bytes; `declared` is the encoding that they say they are in."""
    text = _decoded(raw, declared)
    if text and len(_CONTROL.findall(text, 0, SAMPLE_BYTES)) > MOST_CONTROLS * len(
        text[:SAMPLE_BYTES]
    ):
        raise Undecodable("holds control characters, so it is not text")
    return canonical(text)


def canonical(text: str) -> str:
    """NFC; each line end a `\\n`; no soft hyphens and byte order marks; ligatures as their letters.

    Compatibility forms (NFKC) are kept, since they'd turn m² into m2.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text
    text = _STEERING.sub(lambda found: _LIGATURES.get(found[0], ""), text)
    return unicodedata.normalize("NFC", text)


def _decoded(raw: bytes, declared: str | None) -> str:
    """Marked, UTF-8, as declared, as detected: the first that it is."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _as(raw, encoding)
    if b"\0" in raw:
        raise Undecodable("holds NUL bytes, so it is not text")
    for encoding in ("utf-8", declared or "ascii"):
        try:
            return raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return _as(raw, _guessed(raw[:SAMPLE_BYTES]))


def _guessed(sample: bytes) -> str:
    """The encoding that fits best; among equals the one that is by far the most frequent."""
    import charset_normalizer  # late: almost every text is in UTF-8

    matches = charset_normalizer.from_bytes(sample)
    best = matches.best()
    if best is None:
        raise Undecodable("is in no encoding that is known, so it may not be text")
    equals = (match for match in matches if match.chaos <= best.chaos)
    is_western = any(WESTERN in (match.encoding, *match.could_be_from_charset) for match in equals)
    return WESTERN if is_western else best.encoding


def _as(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise Undecodable(
            f"begins like {encoding}, but byte {error.start} cannot be decoded"
        ) from error
