"""SciFact: claims against abstracts. Reported on the validation claims, tuned on the others.

Relevant are the cited documents, as in BEIR. An abstract is the printed list of its sentences.
"""

import ast
import csv
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, Entry, Question, Skipped, Unreadable


def read(folder: Path) -> Collection:
    """The set of the files `corpus_train.csv`, `claims_train.csv` and `claims_validation.csv`."""
    skipped: list[Skipped] = []
    entries = tuple(_entries(folder / "corpus_train.csv", skipped))
    known = {entry.entry_id for entry in entries}
    return Collection(
        name="scifact",
        entries=entries,
        questions=tuple(_claims(folder / "claims_validation.csv", known, skipped)),
        tuning=tuple(_claims(folder / "claims_train.csv", known, skipped)),
        skipped=tuple(skipped),
    )


def _entries(path: Path, skipped: list[Skipped]) -> Iterator[Entry]:
    for row in _rows(path):
        try:
            sentences = _strings(row["abstract"])
        except (SyntaxError, ValueError, tokenize.TokenError) as error:
            skipped.append(Skipped(f"abstract {row['doc_id']}", f"is not a list of texts: {error}"))
            continue
        yield Entry(row["doc_id"], row["title"], " ".join(sentences))


def _strings(printed: str) -> list[str]:
    """The texts of a printed list, which has no commas between them."""
    tokens = tokenize.generate_tokens(io.StringIO(printed).readline)
    return [
        " ".join(str(ast.literal_eval(token.string)).split())
        for token in tokens
        if token.type == tokenize.STRING
    ]


def _claims(path: Path, known: set[str], skipped: list[Skipped]) -> Iterator[Question]:
    """One question for each claim, which has a row for each of its evidence sentences."""
    seen: set[str] = set()
    for row in _rows(path):
        if row["id"] in seen:
            continue
        seen.add(row["id"])
        cited = [str(number) for number in ast.literal_eval(_with_commas(row["cited_doc_ids"]))]
        missing = [doc_id for doc_id in cited if doc_id not in known]
        if missing:
            skipped.append(
                Skipped(f"claim {row['id']}", f"cites {', '.join(missing)}: not in the corpus")
            )
        relevant = {doc_id: 1 for doc_id in cited if doc_id in known}
        if relevant:
            yield Question(row["id"], row["claim"], relevant)


def _with_commas(printed: str) -> str:
    return "[" + ",".join(printed.strip().strip("[]").replace(",", " ").split()) + "]"


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
