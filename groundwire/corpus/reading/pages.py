"""Markdown pages and plain text into documents. Lines stay where they are, so that a line can be cited."""

import re

from ..chunking.blocks import blocks
from ..model import Origin
from . import frontmatter
from .made import Said, made
from .metadata import BadLabels
from .source import Reading, Source
from .text import Undecodable, decoded

_UNSEEN = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def markdown(source: Source) -> Reading:
    """A page of Markdown, without its front matter and what a browser would not show."""
    try:
        text = decoded(source.raw)
        front = frontmatter.read(text)
    except (Undecodable, BadLabels) as error:
        return Reading.refused(source, str(error))
    line = 1 + text.count("\n", 0, front.body_start)
    body = _seen(text[front.body_start :])
    said = Said(
        front.title or _first_heading(body),
        front.labels,
        front.published,
        front.modified,
        front.language,
    )
    faults = [front.fault] if front.fault else []
    return made(source, body, said, origin=Origin("line", numbers=(line,)), faults=faults)


def plain(source: Source) -> Reading:
    """A text without any markup."""
    try:
        text = decoded(source.raw)
    except Undecodable as error:
        return Reading.refused(source, str(error))
    return made(source, text, Said(), markdown=False, origin=Origin("line"))


def _seen(text: str) -> str:
    """The page without comments, scripts and styles, except in code; as many lines as before."""
    if not _UNSEEN.search(text):
        return text
    code = [block for block in blocks(text, markdown=True) if block.kind == "code"]

    def shown(found: re.Match[str]) -> str:
        start = found.start()
        line = text[text.rfind("\n", 0, start) + 1 : start]
        is_code = any(block.start <= start < block.end for block in code)
        return found[0] if is_code or line.count("`") % 2 else "\n" * found[0].count("\n")

    return _UNSEEN.sub(shown, text)


def _first_heading(body: str) -> str:
    """The name of the page's first block if that is a heading; only the page's top is parsed."""
    top = body.lstrip()[:2_000]
    first = next(iter(blocks(top, markdown=True)), None)
    return first.name if first else ""
