"""The vector store on disk: quantised rows in the order of their partitions, and graphs of the large ones."""

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..partitions import Labels, Partitions, arrange
from . import graph
from .quantized import Bytes, cosines, lengths, quantized

FORMAT = 1
MANIFEST = "vectors.json"
BATCH = 4_096
EXACT_UP_TO = 1_000_000
SAMPLED = 100
NEAREST = 10


@dataclass(frozen=True)
class VectorRow:
    """The vector of one passage; of floats, or as `VectorIndex.rows` gives it back."""

    ordinal: int
    vector: NDArray[np.floating | np.integer]
    labels: Labels = ()


@dataclass(frozen=True)
class Built:
    """What was built. `recalls`: by partition with a graph, the share of the exact 10 nearest that it finds."""

    rows: int
    dimensions: int
    recalls: dict[int, float]


@dataclass(frozen=True)
class Files:
    """All of an opened store."""

    partitions: Partitions
    dimensions: int
    ordinals: NDArray[np.int64]
    rows: Bytes
    lengths: NDArray[np.float64]
    graphs: dict[int, graph.Graph]
    exact_up_to: int


def write(folder: Path, rows: Iterable[VectorRow], dimensions: int, exact_up_to: int) -> Built:
    """Store rows into an empty folder. One of zeros has no direction and is left out."""
    ordinals, labels, blocks = array("q"), list[Labels](), list[Bytes]()
    for batch in _batches(rows):
        block = quantized(np.stack([row.vector for row in batch]))
        if block.shape[1] != dimensions:
            raise ValueError(f"a vector has {block.shape[1]} components, not {dimensions}")
        directed: NDArray[np.bool_] = np.any(block, axis=1)
        blocks.append(block[directed])
        kept = [row for row, has in zip(batch, directed.tolist(), strict=True) if has]
        ordinals.extend(row.ordinal for row in kept)
        labels.extend(row.labels for row in kept)
    partitions, order = arrange(ordinals, labels)
    stored = np.concatenate(blocks or [np.empty((0, dimensions), np.int8)])[order]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "ordinals.npy", np.array(ordinals, np.int64)[order])
    np.save(folder / "rows.npy", stored)
    np.save(folder / "lengths.npy", lengths(stored))
    built = Built(len(stored), dimensions, _write_graphs(folder, stored, partitions, exact_up_to))
    manifest = {
        "format": FORMAT,
        "exact_up_to": exact_up_to,
        "partitions": asdict(partitions),
        **asdict(built),
    }
    text = json.dumps(manifest, ensure_ascii=False, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return built


def read(folder: Path) -> Files:
    """Open a store that `write` has written."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] != FORMAT:
        raise ValueError(f"{folder / MANIFEST} has format {manifest['format']}, not {FORMAT}")
    dimensions = manifest["dimensions"]
    at = [int(number) for number in manifest["recalls"]] if graph.is_available() else []
    return Files(
        Partitions(
            tuple(map(tuple, manifest["partitions"]["labels"])),
            tuple(manifest["partitions"]["sizes"]),
        ),
        dimensions,
        _mapped(folder / "ordinals.npy"),
        _mapped(folder / "rows.npy"),
        _mapped(folder / "lengths.npy"),
        {number: graph.Graph(_graph_path(folder, number), dimensions) for number in at},
        manifest["exact_up_to"],
    )


def recall(files: Files, number: int) -> float:
    """Of rows spread over a partition, the share of their 10 nearest others that its graph finds."""
    start, stop = files.partitions.spans[number]
    rows, own = files.rows[start:stop], files.lengths[start:stop]
    found = 0
    sample = np.linspace(0, len(rows) - 1, min(SAMPLED, len(rows)), dtype=np.intp)
    for at in sample.tolist():
        scores = cosines(rows, own, rows[at])
        scores[at] = -1.0
        nearest = set(np.argsort(-scores, kind="stable")[:NEAREST].tolist())
        found += len(nearest & set(files.graphs[number].near(rows[at], NEAREST + 1).tolist()))
    return found / (len(sample) * NEAREST)


def _write_graphs(
    folder: Path, stored: Bytes, partitions: Partitions, exact_up_to: int
) -> dict[int, float]:
    spans = partitions.spans if graph.is_available() else []
    large = {at: span for at, span in enumerate(spans) if span[1] - span[0] > exact_up_to}
    recalls = {}
    for number, (start, stop) in large.items():
        graph.build(_graph_path(folder, number), stored[start:stop])
        opened = {number: graph.Graph(_graph_path(folder, number), stored.shape[1])}
        files = Files(
            partitions,
            stored.shape[1],
            np.empty(0, np.int64),
            stored,
            lengths(stored),
            opened,
            exact_up_to,
        )
        recalls[number] = recall(files, number)
    return recalls


def _batches(rows: Iterable[VectorRow]) -> Iterator[list[VectorRow]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _graph_path(folder: Path, number: int) -> Path:
    return folder / f"graph-{number}.usearch"


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))
