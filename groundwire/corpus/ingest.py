"""From paths to the current snapshot: compare, read what changed, store, count, switch.

Until the switch the old snapshot answers; whenever this process is killed, the next one begins again.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from contracts import Invalid
from groundwire.files import write_file

from . import database
from .aside import Sieve
from .changes import Changes
from .chunking import Chunking
from .database import StoredSource, Writer
from .growth import Staged, agree, build_parts, grow
from .lock import IngestLock
from .manifest import DATABASE, INTENTS, Damaged, Manifest
from .model import Aside, Document, Problem
from .parts import OnProgress, Part, Progress, quick, unheard
from .plan import Plan, Recipe, as_stored, make_plan
from .reading import SourceFile, load_source, read_source
from .snapshot import Snapshot
from .staging import publish, staging
from .versions import check, current_version, folder_of, sweep, switch


@dataclass(frozen=True)
class Ingestion:
    """What an ingestion did. `ignored`: files of a folder that are no documents; `aside`: what documents hold that
    isn't their own word.

    `is_new`: whether another version became current by it.
    """

    version: str
    documents: int
    passages: int
    characters: int
    sources: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]
    changes: Changes = field(default_factory=Changes)
    is_new: bool = True
    seconds: float = 0.0
    aside: tuple[Aside, ...] = ()


@dataclass(frozen=True)
class DryRun:
    """What an ingestion would do. Documents aren't read, so `problems` are those of opening files."""

    current: str | None
    changes: Changes
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]
    would_switch: bool


def ingest(
    paths: Sequence[Path],
    root: Path,
    recipe: Recipe,
    *,
    on_progress: OnProgress = unheard,
    slow_later: bool = False,
) -> Ingestion:
    """Make the documents of these paths the current corpus of `root`; Invalid if there are none.

    Busy if another process is changing the corpus. `slow_later`: leave what takes long to `grow_current`.
    """
    begun = time.monotonic()
    with IngestLock(root):
        sweep(root)
        before = current_version(root)
        with _current(root) as current:
            plan = make_plan(paths, recipe, current, on_progress)
            if current is not None and not plan.is_needed:
                done = _summary(plan, current, current.sources().values())
            else:
                done = _build(root, plan, recipe, on_progress, awaited=slow_later)
                if done.version != before:
                    switch(root, done.version)
        version = done.version
        if not slow_later:
            version = grow(root, version, recipe.parts, on_progress)
        is_new = version != before
    return replace(done, version=version, is_new=is_new, seconds=time.monotonic() - begun)


def grow_current(
    root: Path, parts: Sequence[Part], *, on_progress: OnProgress = unheard
) -> str | None:
    """Add the parts that the current snapshot lacks, in one of the same documents; the version current then.

    None if there is no corpus; Busy if another process is changing it.
    """
    with IngestLock(root):
        sweep(root)
        version = current_version(root)
        return version and grow(root, version, parts, on_progress)


def dry_run(
    paths: Sequence[Path], root: Path, recipe: Recipe, *, on_progress: OnProgress = unheard
) -> DryRun:
    """Compare, and change nothing."""
    with _current(root) as current:
        plan = make_plan(paths, recipe, current, on_progress)
    return DryRun(current_version(root), plan.changes, plan.problems, plan.ignored, plan.is_needed)


def in_memory(
    paths: Sequence[Path],
    chunking: Chunking,
    *,
    intents: str | None = None,
    sieve: Sieve | None = None,
) -> tuple[Snapshot, Ingestion]:
    """The same snapshot, of the same version, without storing it."""
    recipe = Recipe(chunking, intents, sieve=sieve)
    plan = make_plan(paths, recipe, None, unheard)
    writer = Writer(None)
    sources = _write(writer, plan, recipe, unheard)
    snapshot = Snapshot(_manifest(writer, recipe), writer.connection, recipe.intents)
    return snapshot, _summary(plan, snapshot, sources)


def snapshot_of(documents: Iterable[Document], intents: str | None = None) -> Snapshot:
    """A snapshot in memory of documents that have their passages."""
    writer = Writer(None)
    writer.add(StoredSource("", "", ""), documents)
    return Snapshot(_manifest(writer, Recipe(Chunking(), intents)), writer.connection, intents)


@contextmanager
def _current(root: Path) -> Iterator[Snapshot | None]:
    """The current snapshot, all of it verified; None if there is none, or none that could be built upon."""
    snapshot, version = None, current_version(root)
    if version is not None:
        with suppress(OSError, Damaged):
            check(root, version)
            snapshot = Snapshot.open(folder_of(root, version), version)
    try:
        yield snapshot
    finally:
        if snapshot is not None:
            snapshot.close()


def _build(
    root: Path, plan: Plan, recipe: Recipe, on_progress: OnProgress, *, awaited: bool
) -> Ingestion:
    with staging(root) as staged:
        old = None if plan.old is None else folder_of(root, plan.old.version) / DATABASE
        writer = Writer(staged / DATABASE, old)
        try:
            sources = _write(writer, plan, recipe, on_progress)
            manifest = _manifest(writer, recipe)
            fresh = Snapshot(manifest, writer.connection)
            first = quick(recipe.parts, fresh, awaited=awaited)
            manifest = replace(
                manifest, parts=build_parts(Staged(staged, fresh, plan.current), first, on_progress)
            )
            done = _summary(plan, Snapshot(manifest, writer.connection), sources)
        finally:
            writer.connection.close()
        if recipe.intents is not None:
            write_file(staged / INTENTS, recipe.intents.encode())
        on_progress(Progress("storing", 0, 0))
        publish(root, staged, manifest)
    return done


def _write(
    writer: Writer, plan: Plan, recipe: Recipe, on_progress: OnProgress
) -> list[StoredSource]:
    """Read what changed, copy the rest; the sources as they went in."""
    kept = {} if plan.old is None else plan.old.sources()
    sources = []
    for done, (file, stored) in enumerate(plan.files, start=1):
        before = kept.get(stored.name)
        copied = None
        if before is not None and before.whole and before.digest == stored.digest:
            copied = writer.copy(before)
        sources.append(copied or _read(writer, file, stored, recipe))
        on_progress(Progress("reading", done, len(plan.files)))
    if not writer.counts.passages:
        problems = [*plan.problems, *(problem for source in sources for problem in source.problems)]
        strange = dict.fromkeys(one.doc_id for one in database.stored_aside(writer.connection))
        problems += [Problem(name, "holds nothing but what is set aside") for name in strange]
        raise Invalid(_nothing(plan.paths, problems))
    return sources


def _read(writer: Writer, file: SourceFile, stored: StoredSource, recipe: Recipe) -> StoredSource:
    source = load_source(file)
    if isinstance(source, Problem):  # it was there a moment ago
        return writer.add(replace(stored, problems=(source,), whole=False), ())
    reading = read_source(source)
    documents = map(recipe.cut, reading.documents)
    return writer.add(replace(as_stored(source), problems=reading.problems), documents)


def _manifest(writer: Writer, recipe: Recipe) -> Manifest:
    """Invariant: what was produced is what is stored."""
    content = writer.finish()
    stored = database.count_stored(writer.connection)
    agree("stored", stored, writer.counts)
    return Manifest(
        content=content,
        chunking=recipe.cutting,
        counts=stored,
        intents=recipe.intents and hashlib.sha256(recipe.intents.encode()).hexdigest(),
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )


def _summary(plan: Plan, snapshot: Snapshot, sources: Iterable[StoredSource]) -> Ingestion:
    sources, manifest = list(sources), snapshot.manifest
    told = (problem for source in sources for problem in source.problems)
    return Ingestion(
        version=manifest.version,
        documents=manifest.counts.documents,
        passages=manifest.counts.passages,
        characters=manifest.counts.characters,
        sources=tuple(source.name for source in sources if source.documents),
        problems=(*plan.problems, *told),
        ignored=plan.ignored,
        changes=plan.changes,
        aside=snapshot.aside(),
    )


def _nothing(paths: Sequence[Path], problems: Sequence[Problem]) -> str:
    names = ", ".join(str(path) for path in paths) or "no path was given"
    reasons = "; ".join(f"{problem.source}: {problem.reason}" for problem in problems[:5])
    return f"no documents to ingest in {names}" + (f" ({reasons})" if reasons else "")
