"""Cranfield: questions of aerodynamics against abstracts, with graded judgements.

The judgements number the questions by their position in the file, not by the number written there.
"""

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, Entry, Question, Skipped, Unreadable

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def read(folder: Path) -> Collection:
    """The set of the files `cran.all.1400.xml`, `cran.qry.xml` and `cranqrel.trec.txt`."""
    skipped: list[Skipped] = []
    entries = tuple(_entries(folder / "cran.all.1400.xml", skipped))
    grades = _grades(folder / "cranqrel.trec.txt", {entry.entry_id for entry in entries}, skipped)
    asked = [
        Question(str(number), _text(element, "title"), grades[str(number)])
        for number, element in enumerate(_elements(folder / "cran.qry.xml", "top"), start=1)
    ]
    unknown = set(grades) - {question.question_id for question in asked}
    skipped += [Skipped(f"judgements of question {one}", "no such question") for one in unknown]
    questions = tuple(one for one in asked if one.relevant)
    skipped += [
        Skipped(f"question {one.question_id}", "nothing is relevant to it")
        for one in asked
        if not one.relevant
    ]
    return Collection("cranfield", entries, questions, skipped=tuple(skipped))


def _entries(path: Path, skipped: list[Skipped]) -> Iterator[Entry]:
    """The abstracts; a text begins with its own title, which is taken off."""
    for element in _elements(path, "doc"):
        number, title, text = (_text(element, name) for name in ("docno", "title", "text"))
        if not title and not text:
            skipped.append(Skipped(f"document {number}", "has neither a title nor a text"))
            continue
        yield Entry(number, title, text.removeprefix(title).strip())


def _grades(path: Path, known: set[str], skipped: list[Skipped]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(_read(path).splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4:
            if fields:
                skipped.append(Skipped(f"judgement of line {number}", "has not four fields"))
            continue
        question, _, entry, grade = fields
        if entry not in known:
            skipped.append(Skipped(f"judgement of line {number}", f"document {entry} has no text"))
        elif int(grade) > 0:
            grades[question][entry] = int(grade)
    return grades


def _elements(path: Path, name: str) -> list[ET.Element]:
    """All elements of a name; the documents have no root of their own, so all get one."""
    text = _DECLARATION.sub("", _read(path))
    try:
        return list(ET.fromstring(f"<all>{text}</all>").iter(name))  # noqa: S314 - a user's own file
    except ET.ParseError as error:
        raise Unreadable(f"{path}: is not XML: {error}") from error


def _text(element: ET.Element, name: str) -> str:
    return " ".join((element.findtext(name) or "").split())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
