"""What is built from a snapshot's content and lies in a folder of it: indexes. Others say how, here is when.

A part that is quickly done is in the first snapshot of new documents. One that would take long follows in a
later snapshot of the same documents, so that they answer at once; what was computed until a crash isn't lost
to those parts that keep it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .manifest import Counts
from .snapshot import Snapshot

MOST_AT_ONCE = 256
"""Passages that still have to be computed for a part: above this it follows later."""
MOST_WHEN_AWAITED = 16
"""The same where someone waits for the first answer."""


@dataclass(frozen=True)
class Progress:
    """How far a step is."""

    step: str
    done: int
    total: int


OnProgress = Callable[[Progress], None]


def unheard(progress: Progress) -> None:
    """Where nobody asks how far it is."""


class Part(Protocol):
    """How one part is built. Equal `how`s build parts that answer alike from the same content."""

    @property
    def name(self) -> str:
        """The name of its folder."""
        ...

    @property
    def how(self) -> str:
        """Everything that its answers depend on beside the content, such as a format and a model."""
        ...

    def is_wanted(self, counts: Counts) -> bool:
        """Whether a corpus of this size has such a part."""
        ...

    def missing(self, snapshot: Snapshot) -> int:
        """How many passages it would have to compute something slow for."""
        ...

    def build(
        self, folder: Path, snapshot: Snapshot, before: Snapshot | None, on_progress: OnProgress
    ) -> int:
        """Build it into a new folder; how many passages are in it. `before`: what a part may be built upon."""
        ...

    def forget(self, snapshot: Snapshot) -> None:
        """Drop what it keeps outside of snapshots and this one doesn't need."""
        ...


def wanted(parts: Sequence[Part], counts: Counts) -> dict[str, Part]:
    """The parts that a corpus of this size has, by name."""
    return {part.name: part for part in parts if part.is_wanted(counts)}


def quick(parts: Sequence[Part], snapshot: Snapshot, *, awaited: bool) -> list[Part]:
    """Those that can be in the first snapshot of new documents; fewer where an answer is `awaited`."""
    most = MOST_WHEN_AWAITED if awaited else MOST_AT_ONCE
    found = wanted(parts, snapshot.counts).values()
    return [part for part in found if part.missing(snapshot) <= most]
