"""Questions and answers, in CSV, JSON or JSON lines, into documents: a section for each, the question its heading.

Rows of one file with the same labels are one document. Columns: `question`, `answer` and, if wanted, `labels`.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from pydantic_core import from_json

from ..model import Document, Origin, Problem
from .made import Said, made
from .metadata import labels_of
from .source import MAX_NAME_CHARS, Reading, Source
from .text import Undecodable, canonical, decoded

DELIMITERS = ",;\t|"
_SNIFFED_CHARS = 10_000


@dataclass(frozen=True)
class _Answer:
    row: int
    question: str
    answer: str
    labels: tuple[str, ...] | None


_Row = tuple[int, Mapping[str, object] | str]
"""The number of a row, and its fields, or why it has none."""


def csv_answers(source: Source) -> Reading:
    """A table with a header; rows are counted as a spreadsheet does, the header as 1."""
    try:
        text = decoded(source.raw)
    except Undecodable as error:
        return Reading.refused(source, str(error))
    return _reading(source, _csv_rows(text))


def json_answers(source: Source) -> Reading:
    """A list of objects, or one object from questions to answers."""
    try:
        found = from_json(decoded(source.raw))
    except ValueError as error:
        return Reading.refused(source, f"is not JSON: {error}")
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        pairs = [{"question": key, "answer": value} for key, value in found.items()]
        found = lists[0] if len(lists) == 1 else pairs
    if not isinstance(found, list):
        return Reading.refused(source, "is no list of questions and answers")
    rows = ((n, _fields(value)) for n, value in enumerate(found, start=1))
    return _reading(source, rows)


def json_lines(source: Source, text: str) -> Reading:
    """An object on each line."""
    lines = ((n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip())
    return _reading(source, ((n, _parsed(line)) for n, line in lines))


def are_answers(line: str) -> bool:
    """Whether a line of JSON is a question with its answer."""
    fields = _parsed(line)
    return not isinstance(fields, str) and {"question", "answer"} <= fields.keys()


def _csv_rows(text: str) -> Iterator[_Row]:
    try:
        dialect: type[csv.Dialect] | str = csv.Sniffer().sniff(text[:_SNIFFED_CHARS], DELIMITERS)
    except csv.Error:
        dialect = "excel"
    reader = csv.reader(io.StringIO(text, newline=""), dialect)
    names: list[str] | None = None
    number = 0
    try:
        for cells in reader:
            number += 1
            if names is None:
                names = [name.strip().lower() for name in cells]
            elif any(cells):
                yield number, dict(zip(names, cells, strict=False))
    except csv.Error as error:
        yield number + 1, f"is not CSV from here on: {error}"


def _parsed(line: str) -> Mapping[str, object] | str:
    try:
        return _fields(from_json(line))
    except ValueError as error:
        return f"is not JSON: {error}"


def _fields(value: object) -> Mapping[str, object] | str:
    if not isinstance(value, dict):
        return "is not a JSON object"
    return {str(key).strip().lower(): cell for key, cell in value.items()}


def _reading(source: Source, rows: Iterable[_Row]) -> Reading:
    answers: list[_Answer] = []
    problems: list[Problem] = []
    for number, fields in rows:
        try:
            answers.append(_answer(number, fields))
        except ValueError as error:
            problems.append(Problem(f"{source.name}:{number}", str(error)))
    if not answers:
        problems = problems or [Problem(source.name, "has no questions and answers")]
        return Reading(problems=tuple(problems[:1]))
    groups: dict[tuple[str, ...] | None, list[_Answer]] = {}
    for answer in answers:
        groups.setdefault(answer.labels, []).append(answer)
    documents = tuple(_document(source, labels, group) for labels, group in groups.items())
    return Reading(tuple(filter(None, documents)), tuple(problems))


def _answer(number: int, fields: Mapping[str, object] | str) -> _Answer:
    if isinstance(fields, str):
        raise ValueError(fields)
    question, answer = (_words(fields, name) for name in ("question", "answer"))
    given = fields.get("labels")
    labels = None if given in (None, "") else labels_of(given)
    return _Answer(number, " ".join(question.split()), answer, labels)


def _words(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name}: expected a text that is not blank")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: is not valid Unicode at character {error.start}") from error
    return canonical(value).replace("\0", "").strip()


def _document(
    source: Source, labels: tuple[str, ...] | None, answers: list[_Answer]
) -> Document | None:
    starts, parts, at = [], list[str](), 0
    for one in answers:
        part = f"## {one.question}\n\n{one.answer}\n\n"
        starts.append(at)
        parts.append(part)
        at += len(part)
    origin = Origin("row", tuple(starts), tuple(one.row for one in answers))
    said = Said(PurePosixPath(source.name).stem, labels)
    found = made(source, "".join(parts), said, origin=origin).documents
    if not found or labels is None:
        return found[0] if found else None
    return replace(found[0], doc_id=_id(source.name, "+".join(labels)))


def _id(name: str, labels: str) -> str:
    """The file's name and the labels; a digest of both where that's too long for an id."""
    whole = f"{name}#{labels}"
    if len(whole) <= MAX_NAME_CHARS:
        return whole
    digest = hashlib.blake2b(whole.encode(), digest_size=6).hexdigest()
    return f"{name[: MAX_NAME_CHARS - 13]}#{digest}"
