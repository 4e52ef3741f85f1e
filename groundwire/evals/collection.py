"""A test collection as a value: texts, questions, and which texts answer which question."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A text to find. `title` is apart from the text, and empty where there is none."""

    entry_id: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question and the grades of the entries that answer it. `fold`: what it may not learn with.

    Invariant: `all(grade > 0 for grade in relevant.values())`.
    """

    question_id: str
    text: str
    relevant: Mapping[str, int]
    fold: str = ""


@dataclass(frozen=True)
class Skipped:
    """Something of the published files that is not used, and why."""

    what: str
    reason: str


@dataclass(frozen=True)
class Collection:
    """A set to measure on. `tuning`: questions of another split, never reported."""

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Question, ...]
    tuning: tuple[Question, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class Unreadable(Exception):
    """A set is not where it should be, or is not what its format says."""
