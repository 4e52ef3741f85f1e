"""JSON lines of ready passages: each a `passage_id`, a `text` and optional metadata.

Passages that share a `doc_id` become one document, in file order; others are their own.
"""

from collections import defaultdict
from dataclasses import dataclass

from pydantic_core import from_json

from contracts.query import PUBLIC

from ..model import Document, Passage, Problem
from .answers import are_answers, json_lines
from .source import Reading, Source
from .text import Undecodable, decoded

SEPARATOR = "\n\n"
MAX_ID_CHARS = 200


@dataclass(frozen=True)
class _Line:
    passage_id: str
    text: str
    doc_id: str
    title: str
    source: str
    labels: tuple[str, ...]


def passages(source: Source) -> Reading:
    """The documents of a file of passages, and the lines that aren't passages; or of questions and answers."""
    try:
        text = decoded(source.raw)
    except Undecodable as error:
        return Reading.refused(source, str(error))
    if are_answers(next(filter(str.strip, text.split("\n")), "")):
        return json_lines(source, text)
    problems: list[Problem] = []
    by_document: dict[str, list[_Line]] = defaultdict(list)
    seen: set[str] = set()
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            line = _line(raw, source)
            if line.passage_id in seen:
                raise ValueError(f"passage_id {line.passage_id!r} occurs twice")
            others = by_document.get(line.doc_id)
            if others and others[0].labels != line.labels:
                raise ValueError(f"labels differ from those before in {line.doc_id!r}")
        except ValueError as error:
            problems.append(Problem(f"{source.name}:{number}", str(error)))
            continue
        seen.add(line.passage_id)
        by_document[line.doc_id].append(line)
    if not by_document and not problems:
        return Reading.refused(source, "has no passages")
    return Reading(tuple(_document(lines) for lines in by_document.values()), tuple(problems))


def _line(raw: str, source: Source) -> _Line:
    try:
        value = from_json(raw)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")
    metadata = value.get("metadata")
    fields = {**(metadata if isinstance(metadata, dict) else {}), **value}
    passage_id = _string(fields, "passage_id", None, MAX_ID_CHARS)
    doc_id = _string(fields, "doc_id", passage_id, MAX_ID_CHARS)
    return _Line(
        passage_id=passage_id,
        text=_string(fields, "text", None).replace("\r\n", "\n").replace("\r", "\n"),
        doc_id=doc_id,
        title=_string(fields, "title", doc_id),
        source=_string(fields, "source", source.name),
        labels=_labels(fields.get("labels", list(source.labels or (PUBLIC,)))),
    )


def _string(
    fields: dict[str, object], key: str, default: str | None, longest: int | None = None
) -> str:
    value = fields.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: expected a text that is not blank")
    if longest is not None and len(value) > longest:
        raise ValueError(f"{key}: is longer than {longest} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{key}: is not valid Unicode at character {error.start}") from error
    return value


def _labels(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("labels: expected a list of names")
    if not all(isinstance(label, str) and 0 < len(label) <= MAX_ID_CHARS for label in value):
        raise ValueError("labels: expected a list of names")
    return tuple(value)


def _document(lines: list[_Line]) -> Document:
    passages: list[Passage] = []
    start = 0
    for line in lines:
        passages.append(Passage(line.passage_id, start, start + len(line.text)))
        start += len(line.text) + len(SEPARATOR)
    first = lines[0]
    return Document(
        doc_id=first.doc_id,
        title=first.title,
        source=first.source,
        text=SEPARATOR.join(line.text for line in lines),
        labels=first.labels,
        markdown=False,
        passages=tuple(passages),
    )
