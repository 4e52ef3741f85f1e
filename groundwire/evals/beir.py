"""A folder in BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv` (`train.tsv`)."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, Entry, Question, Skipped, Unreadable


def is_beir(folder: Path) -> bool:
    """Whether a folder has the layout's two files."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def read(folder: Path) -> Collection:
    """Reported on `test`, or on the only split there is; tuned on `train`."""
    skipped: list[Skipped] = []
    entries = tuple(
        Entry(line["_id"], line.get("title", ""), line.get("text", ""))
        for line in _lines(folder / "corpus.jsonl", skipped)
    )
    known = {entry.entry_id for entry in entries}
    asked = {
        line["_id"]: line.get("text", "") for line in _lines(folder / "queries.jsonl", skipped)
    }
    splits = {
        path.stem: tuple(_questions(path, asked, known, skipped))
        for path in sorted((folder / "qrels").glob("*.tsv"))
    }
    if not splits:
        raise Unreadable(f"{folder / 'qrels'}: no .tsv file of judgements")
    reported = "test" if "test" in splits else next(iter(splits))
    tuning = splits.get("train", ()) if reported != "train" else ()
    return Collection(folder.name, entries, splits[reported], tuning, tuple(skipped))


def _questions(
    path: Path, asked: dict[str, str], known: set[str], skipped: list[Skipped]
) -> Iterator[Question]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t"), start=1):
            where = f"{path.name}:{number}"
            if len(row) != 3 or not row[2].strip().lstrip("-").isdigit():
                if number > 1:  # the first line is the heading
                    skipped.append(Skipped(where, "is not: query, document, grade"))
            elif row[0] not in asked:
                skipped.append(Skipped(where, f"no query {row[0]}"))
            elif row[1] not in known:
                skipped.append(Skipped(where, f"no document {row[1]}"))
            elif int(row[2]) > 0:
                grades[row[0]][row[1]] = int(row[2])
    for question_id, relevant in grades.items():
        yield Question(question_id, asked[question_id], relevant)


def _lines(path: Path, skipped: list[Skipped]) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                    identity = value["_id"]
                except (json.JSONDecodeError, KeyError, TypeError) as error:
                    skipped.append(Skipped(f"{path.name}:{number}", f"unreadable: {error!r}"))
                    continue
                texts = {name: value.get(name) or "" for name in ("title", "text")}
                yield {"_id": str(identity), **texts}
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
