"""A source: the bytes of one file and what is said of it from outside. Values, and what reading them yields."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..model import Document, Problem

READER_VERSION = 2
"""Raised whenever the same bytes are read differently: what was read before is read again."""

MAX_NAME_CHARS = 180
"""A document is named by its file, a passage by its document and a digest: each has room in a message."""


@dataclass(frozen=True)
class SourceFile:
    """A file to be read: the name it is cited by, and the labels that it has unless it names its own."""

    name: str
    path: Path
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Source:
    """A file's bytes. `name`: what it is cited by; its ending says what kind it is."""

    name: str
    raw: bytes
    labels: tuple[str, ...] | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of all that reading it depends on: equal digests are read to equal documents."""
        outside = json.dumps([READER_VERSION, self.name, self.labels]).encode()
        return hashlib.sha256(hashlib.sha256(outside).digest() + self.raw).hexdigest()


@dataclass(frozen=True)
class Reading:
    """What a source yielded. Documents with passages came in passages; the others are to be cut."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def refused(cls, source: Source, reason: str) -> "Reading":
        """Nothing but the reason why."""
        return cls(problems=(Problem(source.name, reason),))


Reader = Callable[[Source], Reading]
