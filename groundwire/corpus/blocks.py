"""A text into blocks, the pieces a reader sees: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "item", "table", "code"]

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")


@dataclass(frozen=True)
class Block:
    """A span of whole lines without blank ones around it. `heading_path`: outermost first."""

    start: int
    end: int
    kind: Kind
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def blocks(text: str, *, markdown: bool) -> list[Block]:
    """The blocks of a text in order; plain text has paragraphs only."""
    lines = list(_lines(text))
    found: list[Block] = []
    path: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        if lines[at].is_blank:
            at += 1
            continue
        kind, end = _block_at(lines, at) if markdown else ("paragraph", _paragraph(lines, at))
        if kind == "heading":
            level, name = _heading(lines, at)
            path = [(above, title) for above, title in path if above < level]
            path.append((level, name))
        names = tuple(title for _, title in path if title)
        found.append(Block(lines[at].start, lines[end - 1].end, kind, names))
        at = end
    return found


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, line)
        start += len(line) + 1


def _block_at(lines: list[_Line], at: int) -> tuple[Kind, int]:
    """The kind of the block that begins on a line, and the line after its last."""
    text = lines[at].text
    if fence := _FENCE.match(text):
        return "code", _fenced(lines, at, fence[1])
    if _ATX.match(text):
        return "heading", at + 1
    if _is_table(lines, at):
        return "table", next(
            (n for n in range(at, len(lines)) if "|" not in lines[n].text), len(lines)
        )
    if _ITEM.match(text):
        return "item", _paragraph(lines, at, markdown=True)
    if at + 1 < len(lines) and _SETEXT.match(lines[at + 1].text):
        return "heading", at + 2
    return "paragraph", _paragraph(lines, at, markdown=True)


def _fenced(lines: list[_Line], at: int, fence: str) -> int:
    for n in range(at + 1, len(lines)):
        closing = lines[n].text.strip()
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return n + 1
    return len(lines)


def _is_table(lines: list[_Line], at: int) -> bool:
    return (
        "|" in lines[at].text
        and at + 1 < len(lines)
        and "|" in lines[at + 1].text
        and _TABLE_RULE.match(lines[at + 1].text) is not None
    )


def _paragraph(lines: list[_Line], at: int, *, markdown: bool = False) -> int:
    for n in range(at + 1, len(lines)):
        if lines[n].is_blank or (markdown and _interrupts(lines, n)):
            return n
    return len(lines)


def _interrupts(lines: list[_Line], at: int) -> bool:
    text = lines[at].text
    return bool(_ATX.match(text) or _FENCE.match(text) or _ITEM.match(text) or _is_table(lines, at))


def _heading(lines: list[_Line], at: int) -> tuple[int, str]:
    if match := _ATX.match(lines[at].text):
        return len(match[1]), (match[2] or "").strip()
    underline = lines[at + 1].text.strip()
    return (1 if underline[0] == "=" else 2), lines[at].text.strip()
