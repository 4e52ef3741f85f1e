"""Files into documents. Listing, loading and reading are apart, so that what didn't change isn't read again.

What can't be read is a value with its reason, and the rest goes in.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from ..model import Problem
from . import answers, listing, loading, pages, ready
from .docx import docx
from .html import html
from .listing import Endings, Listing
from .pdf import pdf
from .source import READER_VERSION, Reader, Reading, Source, SourceFile

__all__ = [
    "READER_VERSION",
    "Listing",
    "Reading",
    "Source",
    "SourceFile",
    "list_sources",
    "load_source",
    "read_source",
]

PAGES: Mapping[str, Reader] = {
    ".md": pages.markdown,
    ".markdown": pages.markdown,
    ".mdx": pages.markdown,
    ".txt": pages.plain,
    ".html": html,
    ".htm": html,
    ".xhtml": html,
    ".pdf": pdf,
    ".docx": docx,
}
"""By ending: what is read from folders, or by its own path."""

DATA: Mapping[str, Reader] = {
    ".jsonl": ready.passages,
    ".json": answers.json_answers,
    ".csv": answers.csv_answers,
    ".tsv": answers.csv_answers,
}
"""By ending: what is read only by its own path, since a folder's data files needn't be meant."""

MAX_SOURCE_BYTES = 256 * 1024 * 1024


def list_sources(paths: Iterable[Path], labels: tuple[str, ...] | None = None) -> Listing:
    """The files that these paths name, in order; folders are walked, no document is opened.

    `labels`: of documents that neither say their own nor have some by a `labels.toml`.
    """
    return listing.list_files(paths, Endings(PAGES.keys(), DATA.keys()), labels)


def load_source(file: SourceFile) -> Source | Problem:
    """A file with its bytes; the Problem says why they can't be had."""
    raw = loading.load(file, most_bytes=MAX_SOURCE_BYTES)
    return raw if isinstance(raw, Problem) else Source(file.name, raw, file.labels)


def read_source(source: Source) -> Reading:
    """The documents of a source. Pure: equal digests are read to equal documents."""
    if not source.raw:
        return Reading.refused(source, "is empty")
    ending = PurePosixPath(source.name).suffix.lower()
    reader = PAGES.get(ending) or DATA.get(ending)
    if reader is None:
        return Reading.refused(source, f"no reader for {ending or 'a file without an ending'}")
    return reader(source)
