"""Questions of our own about published documents, each with the place of its answer; never the documents' words."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

SEED = 6
LONGEST_SHARED = 2
"""Consecutive words that a question may share with the documents."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True)
class Asked:
    """A question, and its answer: characters `start` to `end` of a file, and their SHA-256."""

    question: str
    document: str
    start: int
    end: int
    sha256: str


def basecamp() -> tuple[Asked, ...]:
    """Questions about Basecamp's policies (basecamp/policies, CC BY 4.0), written before any gate was built."""
    text = (files(__package__) / "basecamp.jsonl").read_text(encoding="utf-8")
    return tuple(Asked(**json.loads(line)) for line in text.splitlines())


@dataclass(frozen=True)
class Case:
    """A compound or paraphrased question about `examples/{documents}`.

    `needs`: what an answer has to quote, all of it; of each need any of the alternatives, blanks not counted.
    """

    documents: str
    question: str
    needs: tuple[tuple[str, ...], ...]


def answers() -> tuple[Case, ...]:
    """Cases about our examples, written before the choice of sentences was tuned."""
    text = (files(__package__) / "answers.jsonl").read_text(encoding="utf-8")
    lines = map(json.loads, text.splitlines())
    return tuple(
        Case(line["documents"], line["question"], tuple(map(tuple, line["needs"])))
        for line in lines
    )


def shared_runs(question: str, text: str) -> list[str]:
    """The runs of words that a question shares with a text, each longer than may be."""
    taken = set(_runs(text))
    return [" ".join(run) for run in _runs(question) if run in taken]


def halves(asked: Sequence[Asked], seed: int = SEED) -> tuple[tuple[Asked, ...], tuple[Asked, ...]]:
    """Those that calibrate and those that report: by the order of a seeded hash of the question."""
    order = sorted(asked, key=lambda one: _digest(f"{seed}/{one.question}"))
    middle = len(order) // 2
    return tuple(order[:middle]), tuple(order[middle:])


def faults(asked: Sequence[Asked], documents: Path) -> list[str]:
    """What is wrong with questions: an answer that isn't at its place, words taken from any of the documents."""
    texts = {
        path.relative_to(documents).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(documents.rglob("*.md"))
    }
    taken = {run for text in texts.values() for run in _runs(text)}
    found = []
    for one in asked:
        answer = texts.get(one.document, "")[one.start : one.end]
        if not answer.strip() or _digest(answer) != one.sha256:
            found.append(f"{one.question!r}: its answer is not at its place in {one.document}")
        found += [
            f"{one.question!r}: {' '.join(run)!r} is taken from the documents"
            for run in _runs(one.question)
            if run in taken
        ]
    return found


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Every run of one word more than may be shared; letters and digits, without case or apostrophe's shape."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    words = _WORD.findall(plain)
    length = LONGEST_SHARED + 1
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
