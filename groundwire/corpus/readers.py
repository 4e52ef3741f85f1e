"""Files into documents: folders of Markdown and text, and JSON lines of ready passages.

What can't be read is a value with its reason, and the rest goes in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import frontmatter
from .model import Document, Problem
from .ready import documents_of

MARKDOWN = frozenset({".md", ".markdown"})
PLAIN = frozenset({".txt"})
READY = frozenset({".jsonl"})
MAX_ID_CHARS = 180


@dataclass
class Reading:
    """What was found. `unchunked` documents still have to be cut; `ready` ones came in passages."""

    unchunked: list[Document] = field(default_factory=list)
    ready: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def read(paths: Iterable[Path]) -> Reading:
    """Read every path: a folder, a page, or JSON lines of passages."""
    reading = Reading()
    seen: set[str] = set()
    for path, source in _files(list(paths), reading):
        found = _read_file(path, source, reading.problems)
        for document in found:
            if document.doc_id in seen:
                reading.problems.append(
                    Problem(source, f"another document has the id {document.doc_id!r}")
                )
                continue
            seen.add(document.doc_id)
            (reading.ready if document.passages else reading.unchunked).append(document)
    return reading


def _files(paths: list[Path], reading: Reading) -> Iterator[tuple[Path, str]]:
    """Files with the names they are cited by: relative to the folder that was given."""
    for path in paths:
        if path.is_dir():
            prefix = f"{path.resolve().name}/" if len(paths) > 1 else ""
            for file in _walk(path):
                source = prefix + file.relative_to(path).as_posix()
                if file.suffix.lower() in MARKDOWN | PLAIN:
                    yield file, source
                else:
                    reading.ignored.append(source)
        elif path.suffix.lower() in MARKDOWN | PLAIN | READY:
            yield path, path.name
        else:
            kinds = ", ".join(sorted(MARKDOWN | PLAIN | READY))
            reason = f"not a folder or a file of a known kind ({kinds})"
            missing = "no such file or folder"
            reading.problems.append(Problem(str(path), reason if path.exists() else missing))


def _walk(folder: Path) -> list[Path]:
    """The folder's files in order of their names, hidden ones left out."""
    files = (file for file in folder.rglob("*") if not file.is_dir())
    relative = ((file.relative_to(folder).parts, file) for file in files)
    return [
        file for parts, file in sorted(relative) if not any(part.startswith(".") for part in parts)
    ]


def _read_file(path: Path, source: str, problems: list[Problem]) -> list[Document]:
    text = _text(path)
    if isinstance(text, Problem):
        problems.append(Problem(source, text.reason))
        return []
    if path.suffix.lower() in READY:
        documents, faults = documents_of(text, source)
        problems.extend(faults)
        return documents
    document = _page(text, source, markdown=path.suffix.lower() in MARKDOWN)
    if isinstance(document, Problem):
        problems.append(document)
        return []
    return [document]


def _text(path: Path) -> str | Problem:
    """The canonical text of a file: UTF-8 without a mark, every line end a `\\n`."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        return Problem(str(path), f"cannot be opened: {error.strerror or error}")
    if b"\0" in raw:
        return Problem(str(path), "holds NUL bytes, so it is not text")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Problem(str(path), f"is not UTF-8: byte {error.start} cannot be decoded")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _page(text: str, source: str, *, markdown: bool) -> Document | Problem:
    try:
        front = frontmatter.read(text) if markdown else frontmatter.FrontMatter()
    except frontmatter.BadLabels as error:
        return Problem(source, str(error))
    body = text[front.body_start :]
    if not body.strip():
        return Problem(source, "has no text")
    doc_id = source
    if len(source) > MAX_ID_CHARS:
        return Problem(source, f"its path is longer than {MAX_ID_CHARS} characters")
    title = front.title or _first_heading(body, markdown=markdown) or Path(source).stem
    document = Document(doc_id, title, source, body, markdown=markdown)
    if front.labels is None:
        return document
    return Document(doc_id, title, source, body, front.labels, markdown)


def _first_heading(body: str, *, markdown: bool) -> str:
    from .blocks import blocks

    if not markdown:
        return ""
    first = next((block for block in blocks(body, markdown=True)), None)
    return first.heading_path[-1] if first and first.heading_path else ""
