"""The line of a TOML file that a key is written on: what the standard parser doesn't say."""

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[\[\s*intents\s*\]\]")
_HEADER = re.compile(r"\s*\[")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')


def line_of(text: str, place: Sequence[int | str]) -> int | None:
    """The number of the line where a key is written, found by walking down its path; None if nowhere.

    Where the last part is missing from the file, the line of what it is missing from.
    """
    lines = text.splitlines()
    start, end, found = 0, len(lines), None
    for part in place:
        if isinstance(part, str):
            hit = _first(lines, part, start, end)
        elif found is None or _TABLE.match(lines[found - 1]):
            hit = _nth_table(lines, part)
            end = len(lines) if hit is None else _next_header(lines, hit + 1)
        else:
            hit = _nth_string(lines, part, start, end)
        if hit is None:
            return found
        start, found = hit, hit + 1
    return found


def _first(lines: list[str], key: str, start: int, end: int) -> int | None:
    word = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*[=\].]""")
    return next((n for n in range(start, end) if word.search(lines[n])), None)


def _nth_table(lines: list[str], position: int) -> int | None:
    headers = [n for n, line in enumerate(lines) if _TABLE.match(line)]
    return headers[position] if position < len(headers) else None


def _next_header(lines: list[str], start: int) -> int:
    return next((n for n in range(start, len(lines)) if _HEADER.match(lines[n])), len(lines))


def _nth_string(lines: list[str], position: int, start: int, end: int) -> int | None:
    """The line of a string of an array that begins on line `start`."""
    seen = 0
    for n in range(start, end):
        line = lines[n].partition("[")[2] if n == start else lines[n]
        seen += len(_STRING.findall(line))
        if seen > position:
            return n
    return None
