"""The keyword index on disk: a sorted list of terms, and per field where each occurs. Written once, then
memory-mapped; the same rows give the same bytes, in whatever order they come.
"""

import json
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..partitions import Labels, Partitions, arrange
from .analysis import Analysis, Analyzer
from .scoring import Counts, Lengths, Places

FORMAT = 1
FIELDS = ("text", "title", "headings")
MANIFEST = "keyword.json"
MOST_COUNTED = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Row:
    """One passage as it is indexed. `ordinal`: how hits name it, and who comes first when scores are equal."""

    ordinal: int
    text: str
    title: str = ""
    headings: tuple[str, ...] = ()
    labels: Labels = ()


@dataclass(frozen=True)
class Field:
    """One field's postings: term t is in `places[starts[t]:starts[t + 1]]`, so many times each.

    `sums` and `shortest` are of the lengths of each partition.
    """

    starts: NDArray[np.uint64]
    places: Places
    counts: Counts
    lengths: Lengths
    sums: tuple[int, ...]
    shortest: tuple[int, ...]


class Terms:
    """The terms, sorted by their UTF-8 bytes, by binary search."""

    def __init__(self, blob: NDArray[np.uint8], ends: NDArray[np.uint64]) -> None:
        self._blob = blob
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def find(self, term: str) -> int | None:
        """The number of a term, if any passage has it."""
        sought = term.encode()
        at = bisect_left(range(len(self)), sought, key=self._bytes)
        return at if at < len(self) and self._bytes(at) == sought else None

    def _bytes(self, at: int) -> bytes:
        start = int(self._ends[at - 1]) if at else 0
        return self._blob[start : int(self._ends[at])].tobytes()


@dataclass(frozen=True)
class Files:
    """All of an opened index."""

    analysis: Analysis
    partitions: Partitions
    ordinals: NDArray[np.int64]
    terms: Terms
    fields: dict[str, Field]


class _Collected:
    """One field while rows come in: the terms of all of them, end to end, and how many each has."""

    def __init__(self) -> None:
        self.terms = array("I")
        self.lengths = array("I")


def write(folder: Path, rows: Iterable[Row], analysis: Analysis) -> int:
    """Index rows into an empty folder and return how many there were."""
    analyzer = Analyzer(analysis)
    known: defaultdict[str, int] = defaultdict()
    known.default_factory = known.__len__
    collected = {name: _Collected() for name in FIELDS}
    ordinals, labels = array("q"), list[Labels]()
    for row in rows:
        ordinals.append(row.ordinal)
        labels.append(row.labels)
        for name, text in zip(FIELDS, (row.text, row.title, "\n".join(row.headings)), strict=True):
            terms = analyzer.terms(text) if text else []
            collected[name].terms.extend(map(known.__getitem__, terms))
            collected[name].lengths.append(len(terms))
    partitions, order = arrange(ordinals, labels)
    folder.mkdir(parents=True, exist_ok=True)
    by_place = np.array(order, np.intp)
    np.save(folder / "ordinals.npy", np.array(ordinals, np.int64)[by_place])
    ranks = _write_terms(folder, known)
    lengths = {
        name: _write_field(folder, name, one, ranks, by_place, partitions)
        for name, one in collected.items()
    }
    manifest = {
        "format": FORMAT,
        "analysis": asdict(analysis),
        "partitions": asdict(partitions),
        "lengths": lengths,
    }
    text = json.dumps(manifest, ensure_ascii=False, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return len(order)


def read(folder: Path) -> Files:
    """Open an index that `write` has written."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] != FORMAT:
        raise ValueError(f"{folder / MANIFEST} has format {manifest['format']}, not {FORMAT}")
    partitions = Partitions(
        tuple(map(tuple, manifest["partitions"]["labels"])), tuple(manifest["partitions"]["sizes"])
    )
    words = manifest["analysis"]["stop_words"]
    return Files(
        Analysis(manifest["analysis"]["language"], None if words is None else tuple(words)),
        partitions,
        _mapped(folder, "ordinals"),
        Terms(_mapped(folder, "terms"), _mapped(folder, "terms.ends")),
        {name: _field(folder, name, manifest["lengths"][name]) for name in FIELDS},
    )


def _write_terms(folder: Path, known: dict[str, int]) -> NDArray[np.uint64]:
    """Write the sorted terms; returns the rank of each by the number that it was given first."""
    ranked = sorted((term.encode(), number) for term, number in known.items())
    blob = b"".join(term for term, _ in ranked)
    np.save(folder / "terms.npy", np.frombuffer(blob, np.uint8))
    ends = np.cumsum([len(term) for term, _ in ranked], dtype=np.uint64)
    np.save(folder / "terms.ends.npy", ends)
    ranks = np.empty(len(ranked), np.uint64)
    ranks[np.array([number for _, number in ranked], np.intp)] = np.arange(len(ranked))
    return ranks


def _write_field(
    folder: Path,
    name: str,
    one: _Collected,
    ranks: NDArray[np.uint64],
    by_place: NDArray[np.intp],
    partitions: Partitions,
) -> dict[str, list[int]]:
    """Turn what rows hold into where terms are; returns each partition's summed and least length."""
    lengths = np.array(one.lengths, np.uint32)
    place_of = np.empty(len(by_place), np.uint64)
    place_of[by_place] = np.arange(len(by_place))
    pairs = ranks[np.frombuffer(one.terms, np.uint32)]
    pairs <<= np.uint64(32)
    pairs |= np.repeat(place_of, lengths)
    pairs.sort()
    firsts = np.flatnonzero(np.diff(pairs, prepend=~pairs[:1]))
    counts = np.diff(firsts, append=len(pairs))
    pairs = pairs[firsts]
    terms = np.arange(len(ranks) + 1, dtype=np.uint64) << np.uint64(32)
    np.save(folder / f"{name}.starts.npy", np.searchsorted(pairs, terms).astype(np.uint64))
    np.save(folder / f"{name}.places.npy", pairs.astype(np.uint32))
    np.save(folder / f"{name}.counts.npy", np.minimum(counts, MOST_COUNTED).astype(np.uint16))
    np.save(folder / f"{name}.lengths.npy", lengths[by_place])
    parts = [lengths[by_place[start:stop]] for start, stop in partitions.spans]
    return {
        "sums": [int(part.sum(dtype=np.uint64)) for part in parts],
        "shortest": [int(part.min()) for part in parts],
    }


def _field(folder: Path, name: str, lengths: dict[str, list[int]]) -> Field:
    return Field(
        _mapped(folder, f"{name}.starts"),
        _mapped(folder, f"{name}.places"),
        _mapped(folder, f"{name}.counts"),
        _mapped(folder, f"{name}.lengths"),
        tuple(lengths["sums"]),
        tuple(lengths["shortest"]),
    )


def _mapped(folder: Path, name: str) -> NDArray[Any]:
    # A plain array over the map: slices of a np.memmap are slow to make.
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
