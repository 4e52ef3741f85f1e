"""Markdown pages and plain text into documents."""

from pathlib import PurePosixPath

from ..chunking.blocks import blocks
from ..model import PUBLIC, Document, Origin
from . import frontmatter
from .source import Reading, Source
from .text import Undecodable, decoded


def markdown(source: Source) -> Reading:
    """A page of Markdown, without its front matter."""
    try:
        text = decoded(source.raw)
        front = frontmatter.read(text)
    except (Undecodable, frontmatter.BadLabels) as error:
        return Reading.refused(source, str(error))
    body = text[front.body_start :]
    line = 1 + text.count("\n", 0, front.body_start)
    title = front.title or _first_heading(body)
    return _document(source, body, title=title, labels=front.labels, first_line=line)


def plain(source: Source) -> Reading:
    """A text without any markup."""
    try:
        text = decoded(source.raw)
    except Undecodable as error:
        return Reading.refused(source, str(error))
    return _document(source, text, is_markdown=False)


def _document(
    source: Source,
    text: str,
    *,
    title: str = "",
    labels: tuple[str, ...] | None = None,
    is_markdown: bool = True,
    first_line: int = 1,
) -> Reading:
    if not text.strip():
        return Reading.refused(source, "has no text")
    document = Document(
        doc_id=source.name,
        title=title or PurePosixPath(source.name).stem,
        source=source.name,
        text=text,
        labels=labels or source.labels or (PUBLIC,),
        markdown=is_markdown,
        origin=Origin("line", numbers=(first_line,)),
    )
    return Reading((document,))


def _first_heading(body: str) -> str:
    first = next((block for block in blocks(body, markdown=True)), None)
    return first.name if first else ""
