"""Printed pages into running text: lines joined to paragraphs, words that were broken put together, page furniture off.

Pure: takes lines with their places, knows nothing of PDF.
"""

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .text import canonical

EDGE_LINES = 2
FURNITURE_SHARE = 0.6
FEWEST_PAGES = 3
FULL_LINE = 0.85
WIDER_GAP = 0.35

_BROKEN = "\ufffe\x02"
_HYPHENS = "-\u00ad\u2010" + _BROKEN
_ITEM = re.compile(
    r"(?:[\u2022\u25cf\u25aa\u25e6\u2023\u2013\uf0b7*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxl]{1,5})[.)])\s"
)
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(r"([^\W\d_]+)$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_BLANKS = re.compile("[ \t\u00a0]+")


@dataclass(frozen=True)
class PrintedLine:
    """A line and the box around it; `y` grows upwards, as on a page of PDF."""

    text: str
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0


Page = Sequence[PrintedLine]


def running_text(pages: Sequence[Page]) -> tuple[str, tuple[int, ...]]:
    """The text of all pages, and where each begins in it."""
    kept = [[_clean(line) for line in page] for page in pages]
    kept = _without_furniture([[line for line in page if line.text] for page in kept])
    known = Counter(
        word for page in kept for line in page for word in _WORD.findall(line.text.lower())
    )
    parts, starts, length = [""], list[int](), 0
    for page in kept:
        starts.append(length)
        for number, (line, joint) in enumerate(_joined(page)):
            is_next_page = number == 0 and length > 0
            joint = _between_pages(parts[-1], line) if is_next_page else joint
            before, joint = _joint(parts[-1], line, joint, known) if length else ("", "")
            length += len(before) - len(parts[-1]) + len(joint) + len(line)
            parts[-1:] = [before, joint, line]
            if is_next_page:
                starts[-1] = length - len(line)
    return "".join(parts).rstrip("\u00ad"), (0, *starts[1:])


def _clean(line: PrintedLine) -> PrintedLine:
    """Canonical, one blank between words; a hyphen at the end stays until the next line is known."""
    text = line.text.rstrip()
    is_broken = text.endswith(tuple(_BROKEN + "\u00ad"))
    text = _BLANKS.sub(" ", _CONTROL.sub("", canonical(text))).strip()
    text = text + "\u00ad" if is_broken and text else text
    return PrintedLine(text, line.left, line.right, line.bottom, line.top)


def _without_furniture(pages: list[list[PrintedLine]]) -> list[list[PrintedLine]]:
    """Without the first and last lines that most pages share but for their numbers."""
    if len(pages) < FEWEST_PAGES:
        return pages
    counts: Counter[tuple[int, str]] = Counter()
    for page in pages:
        counts.update({_edge(page, place) for place in _places(page)})
    repeated = {edge for edge, count in counts.items() if count >= FURNITURE_SHARE * len(pages)}
    return [
        [line for n, line in enumerate(page) if not _is_furniture(page, n, repeated)]
        for page in pages
    ]


def _places(page: Page) -> Iterator[int]:
    yield from range(min(EDGE_LINES, len(page)))
    yield from range(-min(EDGE_LINES, len(page)), 0)


def _edge(page: Page, place: int) -> tuple[int, str]:
    return (0 if place >= 0 else -1), _DIGITS.sub("#", page[place].text)


def _is_furniture(page: Page, number: int, repeated: set[tuple[int, str]]) -> bool:
    from_end = number - len(page)
    return (number < EDGE_LINES and _edge(page, number) in repeated) or (
        from_end >= -EDGE_LINES and _edge(page, from_end) in repeated
    )


def _joined(page: Page) -> Iterator[tuple[str, str]]:
    """Each line with what joins it to the one before: a blank, a line end, or a blank line."""
    gaps = [above.bottom - below.top for above, below in pairwise(page)]
    usual = statistics.median(gaps) if gaps else 0.0
    left = min((line.left for line in page), default=0.0)
    right = max((line.right for line in page), default=0.0)
    for number, line in enumerate(page):
        if number == 0:
            yield line.text, "\n\n"
            continue
        above, gap = page[number - 1], gaps[number - 1]
        height = max(above.top - above.bottom, line.top - line.bottom)
        is_full = above.right - left >= FULL_LINE * (right - left)
        if gap > usual + WIDER_GAP * height or gap < -height:
            yield line.text, "\n\n"
        elif _ITEM.match(line.text) or not is_full:
            yield line.text, "\n"
        else:
            yield line.text, " "


def _between_pages(text: str, line: str) -> str:
    """A sentence that goes on is not cut by the page."""
    goes_on = text[-1] not in ".!?:;\u3002" and line[:1].islower()
    return " " if goes_on else "\n\n"


def _joint(before: str, line: str, joint: str, known: Counter[str]) -> tuple[str, str]:
    """The line before and what joins the next one to it: a word that was broken is written as it is elsewhere."""
    first, last = _FIRST_WORD.match(line), _LAST_WORD.search(before[:-1])
    if before[-1] in _HYPHENS and last and first and line[0].islower() and joint != "\n\n":
        return before[:-1], "-" if _is_compound(last[1].lower(), first[0].lower(), known) else ""
    if before[-1] == "\u00ad":
        return f"{before[:-1]}-", "" if joint == " " else joint
    return before, joint


def _is_compound(first: str, second: str, known: Counter[str]) -> bool:
    """Whether a hyphen at a line's end is the word's own: as it is elsewhere, else if both halves are words."""
    whole, hyphened = known[first + second], known[f"{first}-{second}"]
    if whole or hyphened:
        return hyphened > whole
    return known[first] > 1 and known[second] > 1  # once they are the halves themselves
