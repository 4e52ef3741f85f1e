"""From paths to a snapshot: read, cut, store, switch. Says what went in and what could not."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts import Invalid

from . import store
from .chunking import Chunking, chunk
from .model import Problem
from .reading import read_all
from .snapshot import Snapshot, build


@dataclass(frozen=True)
class Ingestion:
    """What an ingestion did. `ignored`: files of a folder that are no documents."""

    version: str
    documents: int
    passages: int
    characters: int
    sources: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True)
class _Built:
    snapshot: Snapshot
    files: dict[str, bytes]
    ingestion: Ingestion


def ingest(
    paths: Sequence[Path], root: Path, chunking: Chunking, *, intents: str | None = None
) -> Ingestion:
    """Make the documents of these paths the current corpus of `root`; Invalid if there are none."""
    built = _build(paths, chunking, intents)
    store.write(root, built.snapshot.version, built.files)
    store.switch(root, built.snapshot.version)
    return built.ingestion


def in_memory(
    paths: Sequence[Path], chunking: Chunking, *, intents: str | None = None
) -> tuple[Snapshot, Ingestion]:
    """The same snapshot, of the same version, without storing it."""
    built = _build(paths, chunking, intents)
    return built.snapshot, built.ingestion


def _build(paths: Sequence[Path], chunking: Chunking, intents: str | None) -> _Built:
    read, problems, ignored = read_all(paths)
    documents = [chunk(document, chunking) for document in read]
    if not documents:
        raise Invalid(_nothing(paths, problems))
    snapshot, files = build(documents, chunking, intents)
    ingestion = Ingestion(
        version=snapshot.version,
        documents=len(documents),
        passages=len(snapshot.passages),
        characters=sum(len(document.text) for document in documents),
        sources=tuple(dict.fromkeys(document.source for document in documents)),
        problems=tuple(problems),
        ignored=tuple(ignored),
    )
    return _Built(snapshot, files, ingestion)


def _nothing(paths: Sequence[Path], problems: Sequence[Problem]) -> str:
    names = ", ".join(str(path) for path in paths) or "no path was given"
    reasons = "; ".join(f"{problem.source}: {problem.reason}" for problem in problems[:5])
    return f"no documents to ingest in {names}" + (f" ({reasons})" if reasons else "")
