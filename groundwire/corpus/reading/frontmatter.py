"""The front matter of a Markdown page: the few keys we read, and where the page begins."""

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")


class BadLabels(ValueError):
    """The labels can't be read: the page must not be taken for a public one."""


@dataclass(frozen=True)
class FrontMatter:
    """What a page says about itself; `body_start` is where its text begins."""

    body_start: int = 0
    title: str | None = None
    labels: tuple[str, ...] | None = None


def read(text: str) -> FrontMatter:
    """The front matter of a page; BadLabels when it has labels that aren't a list of names."""
    block = _BLOCK.match(text)
    if block is None:
        return FrontMatter()
    values = _values(block[1] or "")
    title = _unquoted(values.get("title", ""))
    labels = _labels(values["labels"]) if "labels" in values else None
    return FrontMatter(block.end(), title or None, labels)


def _values(block: str) -> dict[str, str]:
    """Top-level keys; a list on lines of its own is joined by commas in brackets."""
    values: dict[str, str] = {}
    key = ""
    for line in block.splitlines():
        if match := _KEY.match(line):
            key = match[1].lower()
            values[key] = (match[2] or "").strip()
        elif key and (item := _ITEM.match(line)):
            items = values[key].removeprefix("[").removesuffix("]")
            values[key] = f"[{items}, {item[1].strip()}]" if items else f"[{item[1].strip()}]"
        elif key and line.strip() and not line.lstrip().startswith("#"):
            values[key] = f"{values[key]} {line.strip()}".strip()
    return values


def _labels(value: str) -> tuple[str, ...]:
    inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    labels = tuple(_unquoted(part.strip()) for part in inner.split(","))
    if not all(label and len(label) <= 200 and not set(label) & set("[]{}:#") for label in labels):
        raise BadLabels(f"labels: expected a list of names, found {value[:80]!r}")
    return labels


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
