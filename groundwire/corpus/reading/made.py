"""A source's text and what is known of it, made into a document."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from contracts.query import PUBLIC

from ..model import Document, Origin, Problem
from .language import detected
from .source import Reading, Source


@dataclass(frozen=True)
class Said:
    """What a source says of itself, as far as it does."""

    title: str | None = None
    labels: tuple[str, ...] | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None


def made(
    source: Source,
    text: str,
    said: Said,
    *,
    markdown: bool = True,
    origin: Origin | None = None,
    faults: Sequence[str] = (),
) -> Reading:
    """The document of a source, refused if it has no text. `faults`: what of it could not be read."""
    if not text.strip():
        return Reading.refused(source, "has no text")
    document = Document(
        doc_id=source.name,
        title=said.title or PurePosixPath(source.name).stem,
        source=source.name,
        text=text,
        labels=said.labels or source.labels or (PUBLIC,),
        markdown=markdown,
        origin=origin,
        published=said.published,
        modified=said.modified,
        language=said.language or detected(text),
    )
    return Reading((document,), tuple(Problem(source.name, fault) for fault in faults))
