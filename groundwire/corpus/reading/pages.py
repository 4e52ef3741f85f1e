"""Markdown pages and plain text into documents. Lines stay where they are, so that a line can be cited."""

import re
from collections.abc import Iterator

from ..chunking.blocks import blocks
from ..model import Origin
from . import frontmatter
from .made import Said, made
from .metadata import BadLabels
from .source import Reading, Source
from .text import Undecodable, decoded

_OPENING = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)


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
        front.title or first_heading(body),
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
    unseen = list(_unseen(text))
    if not unseen:
        return text
    code = [block for block in blocks(text, markdown=True) if block.kind == "code"]
    parts, at = [], 0
    for start, end in unseen:
        before = text[text.rfind("\n", 0, start) + 1 : start]
        is_code = any(block.start <= start < block.end for block in code)
        if not is_code and before.count("`") % 2 == 0:
            parts += [text[at:start], "\n" * text.count("\n", start, end)]
            at = end
    return "".join((*parts, text[at:]))


def _unseen(text: str) -> Iterator[tuple[int, int]]:
    """Where a comment, a script or a style begins and ends; one that never ends is none."""
    at, endless = 0, set[str]()
    while (opening := _OPENING.search(text, at)) is not None:
        tag = (opening[1] or "").lower()
        at = opening.end()
        if tag in endless:
            continue
        end = re.compile(rf"</{tag}\s*>" if tag else "-->", re.IGNORECASE).search(text, at)
        if end is None:
            endless.add(tag)
        else:
            at = end.end()
            yield opening.start(), at


def first_heading(body: str) -> str:
    """The name of the page's first block if that is a heading; only the page's top is parsed."""
    top = body.lstrip()[:2_000]
    first = next(iter(blocks(top, markdown=True)), None)
    return first.name if first else ""
