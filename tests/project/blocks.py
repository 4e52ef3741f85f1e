"""Fenced blocks of a Markdown page, and the commands in those that show a terminal."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIABLE = (
    (re.compile(r"\b\d-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "QUERY_ID"),
    (re.compile(r"\b\d{13}-\d+\b"), "ENTRY_ID"),
    (re.compile(r"\S+-[0-9a-f]{8}\b"), "CONSUMER"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "VERSION"),
    (re.compile(r"\b\d{2,7}(?= +CONSUMER)"), "PID"),
)


@dataclass(frozen=True)
class Block:
    """One fenced block. `shown`: what the page says that it prints, for a program."""

    language: str
    text: str
    line: int
    shown: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}"


@dataclass(frozen=True)
class Command:
    """A command line and the output that the page shows under it."""

    line: str
    shown: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks in order; a `text` block right after a program is that program's output."""
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(page):
        block = Block(match[1], match[2], page.count("\n", 0, match.start()) + 1)
        if block.language == "text" and found and not page[end : match.start()].strip():
            last = found.pop()
            block = Block(last.language, last.text, last.line, shown=block.text)
        found.append(block)
        end = match.end()
    return found


def commands(block: Block) -> list[Command]:
    """The `$ ` lines of a console block, each with the output under it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block}: output before the first command"
    pairs = (part.partition("\n") for part in parts[1:])
    return [Command(line, shown) for line, _, shown in pairs]


def matches(shown: str, printed: str) -> bool:
    """Whether output is what a page shows, but for ids, white space, and what `…` leaves out."""
    parts = (re.escape(part.strip()) for part in _steady(shown).split("…"))
    return re.fullmatch(r"\s*.*?\s*".join(parts), _steady(printed)) is not None


def _steady(text: str) -> str:
    """The text on one line, with what differs from run to run replaced by what it is."""
    line = " ".join(text.split())
    for pattern, name in _VARIABLE:
        line = pattern.sub(name, line)
    return line
