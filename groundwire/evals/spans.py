"""The chunking evaluation: questions with gold spans of characters over long documents."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from .collection import Skipped, Unreadable


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class SpanQuestion:
    """A question and the characters that answer it."""

    text: str
    gold: tuple[Span, ...]


@dataclass(frozen=True)
class SpanCollection:
    """Whole documents by name, and questions with gold spans into them."""

    documents: dict[str, str]
    questions: tuple[SpanQuestion, ...]
    skipped: tuple[Skipped, ...] = ()


def read(folder: Path) -> SpanCollection:
    """The set of `corpora/*.md` and `questions_df.csv`; a span whose text isn't there is skipped."""
    try:
        documents = {
            path.stem: path.read_bytes().decode() for path in sorted(folder.glob("corpora/*.md"))
        }
        with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise Unreadable(f"{error.filename}: {error.strerror}") from error
    if not documents:
        raise Unreadable(f"{folder / 'corpora'}: no .md file")
    questions: list[SpanQuestion] = []
    skipped: list[Skipped] = []
    for number, row in enumerate(rows, start=1):
        name = row["corpus_id"]
        gold: list[Span] = []
        for reference in json.loads(row["references"]):
            start, end = reference["start_index"], reference["end_index"]
            if documents.get(name, "")[start:end] == reference["content"]:
                gold.append(Span(name, start, end))
            else:
                skipped.append(
                    Skipped(f"question {number}", f"{name}[{start}:{end}] is not its text")
                )
        if gold:
            questions.append(SpanQuestion(row["question"], tuple(gold)))
        else:
            skipped.append(Skipped(f"question {number}", "has no span left"))
    return SpanCollection(documents, tuple(questions), tuple(skipped))
