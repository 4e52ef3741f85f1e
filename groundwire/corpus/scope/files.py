"""A scope model on disk: calibration, counts of terms, and vectors of sentences, passages, foreign questions."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..partitions import Labels
from ..vectors import VectorIndex, VectorRow, build
from .terms import TermCounts

FORMAT = 1
MANIFEST, TERMS, FOREIGN, SENTENCES, PASSAGES = (
    "scope.json",
    "terms.json",
    "foreign.npy",
    "sentences",
    "passages",
)
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Calibration:
    """A threshold, from how many texts it comes, and which share of the foreign questions it refuses."""

    threshold: float
    known: int
    refused: float


@dataclass(frozen=True)
class Stored:
    """All of a model. `vectors` is None, like its calibration and `model_id`, where it is of words alone."""

    words: Calibration
    terms: TermCounts
    stop_words: tuple[str, ...]
    near: Calibration | None = None
    model_id: str | None = None
    vectors: "StoredVectors | None" = None


@dataclass(frozen=True)
class StoredVectors:
    """What a question's vector is compared with."""

    sentences: VectorIndex
    passages: VectorIndex
    foreign: Vectors


@dataclass(frozen=True)
class Labelled:
    """Vectors, and the labels of what each is of."""

    rows: Vectors
    labels: Sequence[Labels]


def write_words(
    folder: Path, words: Calibration, terms: TermCounts, stop_words: Sequence[str]
) -> None:
    """Store what needs no vectors."""
    folder.mkdir(parents=True, exist_ok=True)
    _dump(folder / TERMS, terms.as_json())
    manifest = {"format": FORMAT, "words": asdict(words), "stop_words": stop_words}
    _dump(folder / MANIFEST, manifest)


def write_vectors(
    folder: Path,
    near: Calibration,
    model_id: str,
    sentences: Labelled,
    passages: Labelled,
    foreign: Vectors,
) -> None:
    """Store what a question's vector is compared with, beside the words that are there."""
    for name, part in ((SENTENCES, sentences), (PASSAGES, passages)):
        rows = (
            VectorRow(at, row, labels)
            for at, (row, labels) in enumerate(zip(part.rows, part.labels, strict=True))
        )
        build(folder / name, rows, part.rows.shape[1])
    np.save(folder / FOREIGN, foreign)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    _dump(folder / MANIFEST, manifest | {"near": asdict(near), "model_id": model_id})


def read(folder: Path) -> Stored:
    """Open what was written."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] != FORMAT:
        raise ValueError(f"{folder / MANIFEST} has format {manifest['format']}, not {FORMAT}")
    words, terms = Calibration(**manifest["words"]), read_terms(folder)
    stop_words = tuple(manifest["stop_words"])
    if "near" not in manifest:
        return Stored(words, terms, stop_words)
    vectors = StoredVectors(
        VectorIndex.open(folder / SENTENCES),
        VectorIndex.open(folder / PASSAGES),
        np.load(folder / FOREIGN),
    )
    near = Calibration(**manifest["near"])
    return Stored(words, terms, stop_words, near, manifest["model_id"], vectors)


def read_terms(folder: Path) -> TermCounts:
    """The counts alone."""
    parts = json.loads((folder / TERMS).read_text(encoding="utf-8"))
    return TermCounts(
        {tuple(part["labels"]): part["passages"] for part in parts},
        {tuple(part["labels"]): Counter(part["terms"]) for part in parts},
    )


def _dump(path: Path, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")
