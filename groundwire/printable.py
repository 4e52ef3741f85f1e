"""What a text may hold and a terminal must not be sent: signs that steer it, or turn the order of reading. Pure."""

import re

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tab and line end, separators of lines, turns of the direction, half surrogate pairs."""


def printable(text: str) -> str:
    """The text with a replacement character for each such sign."""
    return _STEERING.sub("\ufffd", text)


def escaped(document: str) -> str:
    """A JSON document that says the same without any such sign."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", document)
