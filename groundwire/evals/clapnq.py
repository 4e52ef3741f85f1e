"""CLAP NQ: real questions, each with the Wikipedia passage it was asked of.

All passages are pooled; passages of the same text count as one. Unanswerable questions only add theirs.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .collection import Collection, Entry, Question, Skipped, Unreadable

FILES = ("clapnq_dev_answerable.jsonl", "clapnq_dev_unanswerable.jsonl")


def read(folder: Path) -> Collection:
    """The answerable questions over the passages of both files."""
    entries: dict[str, Entry] = {}
    questions: list[Question] = []
    skipped: list[Skipped] = []
    for name in FILES:
        for line in lines(folder / name):
            found = []
            for passage in line["passages"]:
                text = passage["text"].strip()
                number = str(len(entries))
                found.append(entries.setdefault(text, Entry(number, passage["title"], text)))
            if name != FILES[0]:
                continue
            if not found:
                skipped.append(Skipped(f"question {line['id']}", "has no passage"))
                continue
            relevant = {entry.entry_id: 1 for entry in found}
            questions.append(Question(line["id"], line["input"], relevant))
    return Collection("clapnq", tuple(entries.values()), tuple(questions), skipped=tuple(skipped))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Its rows; Unreadable says what is wrong."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise Unreadable(f"{path}: is not JSON lines: {error}") from error
