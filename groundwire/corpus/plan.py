"""What an ingestion finds: the sources as they are now, beside those that the current snapshot was made of."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .aside import Sieve, sifted
from .changes import Changes, compare
from .chunking import CHUNKING_VERSION, Chunking, chunk
from .database import StoredSource
from .model import Document, Problem
from .parts import OnProgress, Part, Progress
from .reading import Source, SourceFile, list_sources, load_source
from .snapshot import Snapshot


@dataclass(frozen=True)
class Recipe:
    """How sources become a snapshot. `labels`: of documents that neither name their own nor lie under a rule.

    `sieve`: what is taken out of them first; None: nothing.
    """

    chunking: Chunking
    intents: str | None = None
    labels: tuple[str, ...] | None = None
    parts: tuple[Part, ...] = ()
    sieve: Sieve | None = None

    @property
    def cutting(self) -> dict[str, object]:
        """All that the passages of a document depend on, by name."""
        sieve = {} if self.sieve is None else {"sieve": self.sieve.name}
        return asdict(self.chunking) | sieve

    def cut(self, document: Document) -> Document:
        """A document with its passages."""
        own = document if self.sieve is None else sifted(document, self.sieve)
        return chunk(own, self.chunking)


@dataclass(frozen=True)
class Plan:
    """The sources in order, and what must be done about them. `is_needed`: a new snapshot would differ.

    `current`: the snapshot there is; `old`: the same, if unchanged sources can be copied from it.
    """

    paths: tuple[Path, ...]
    files: tuple[tuple[SourceFile, StoredSource], ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]
    changes: Changes
    current: Snapshot | None
    old: Snapshot | None
    is_needed: bool


def make_plan(
    paths: Sequence[Path], recipe: Recipe, current: Snapshot | None, on_progress: OnProgress
) -> Plan:
    """List and load everything, and compare it with the current snapshot. Reads no document."""
    listing = list_sources(paths)
    problems = list(listing.problems)
    files: dict[str, tuple[SourceFile, StoredSource]] = {}
    for done, listed in enumerate(listing.files, start=1):
        on_progress(Progress("comparing", done, len(listing.files)))
        file = replace(listed, labels=listed.labels or recipe.labels)
        source = load_source(file)
        if isinstance(source, Problem):
            problems.append(source)
        elif file.name in files:
            problems.append(Problem(file.name, f"another file is cited by that name: {file.path}"))
        else:
            files[file.name] = file, as_stored(source)
    before = {} if current is None else current.sources()
    can_copy = current is not None and _was_cut_alike(current, recipe)
    if not can_copy:
        before = {name: replace(source, whole=False) for name, source in before.items()}
    changes = compare(before, [stored for _, stored in files.values()])
    is_same = current is not None and current.intents == recipe.intents
    return Plan(
        paths=tuple(paths),
        files=tuple(files.values()),
        problems=tuple(problems),
        ignored=tuple(listing.ignored),
        changes=changes,
        current=current,
        old=current if can_copy else None,
        is_needed=bool(changes) or not is_same or list(before) != list(files),
    )


def as_stored(source: Source) -> StoredSource:
    """What is remembered of a source, before it is read."""
    return StoredSource(source.name, source.digest, hashlib.sha256(source.raw).hexdigest())


def _was_cut_alike(current: Snapshot, recipe: Recipe) -> bool:
    manifest = current.manifest
    wanted = (recipe.cutting, CHUNKING_VERSION)
    return (manifest.chunking, manifest.chunking_version) == wanted
