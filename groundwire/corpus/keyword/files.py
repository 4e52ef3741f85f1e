"""The keyword index on disk: a sorted list of terms, and per field where each occurs. Written once, then
memory-mapped; the same rows give the same bytes, in whatever order they come.
"""

import json
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
Pairs = NDArray[np.uint64]
"""Term and place in one number: the rank of the term in the upper half, the place in the lower."""
Ranks = NDArray[np.uint64]
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

    def all(self) -> list[bytes]:
        """Every term, in order."""
        return [self._bytes(at) for at in range(len(self))]

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


class Collected:
    """One field while rows come in: the terms of all of them, end to end, and how many each has."""

    def __init__(self) -> None:
        self.terms = array("I")
        self.lengths = array("I")


class Collector:
    """Takes rows in. `known`: the number that each term was given when it first came."""

    def __init__(self, analysis: Analysis) -> None:
        self._analyzer = Analyzer(analysis)
        self.known: defaultdict[str, int] = defaultdict()
        self.known.default_factory = self.known.__len__
        self.fields = {name: Collected() for name in FIELDS}
        self.ordinals = array("q")
        self.labels = list[Labels]()

    def take(self, row: Row) -> None:
        """Analyze one row."""
        self.ordinals.append(row.ordinal)
        self.labels.append(row.labels)
        for name, text in zip(FIELDS, (row.text, row.title, "\n".join(row.headings)), strict=True):
            terms = self._analyzer.terms(text) if text else []
            self.fields[name].terms.extend(map(self.known.__getitem__, terms))
            self.fields[name].lengths.append(len(terms))


def write(folder: Path, rows: Iterable[Row], analysis: Analysis) -> int:
    """Index rows into an empty folder and return how many there were."""
    collector = Collector(analysis)
    for row in rows:
        collector.take(row)
    partitions, order = arrange(collector.ordinals, collector.labels)
    by_place = np.array(order, np.intp)
    places = np.empty(len(order), np.uint64)
    places[by_place] = np.arange(len(order))
    ranked = sorted((term.encode(), number) for term, number in collector.known.items())
    ranks = ranks_of([number for _, number in ranked])
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "ordinals.npy", np.array(collector.ordinals, np.int64)[by_place])
    write_terms(folder, [term for term, _ in ranked])
    lengths = {
        name: write_field(
            (folder, name),
            occurrences(one, ranks, places),
            np.array(one.lengths, np.uint32)[by_place],
            len(ranks),
            partitions,
        )
        for name, one in collector.fields.items()
    }
    write_manifest(folder, analysis, partitions, lengths)
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


def write_terms(folder: Path, terms: Sequence[bytes]) -> None:
    """Write terms, which come sorted."""
    np.save(folder / "terms.npy", np.frombuffer(b"".join(terms), np.uint8))
    np.save(folder / "terms.ends.npy", np.cumsum([len(term) for term in terms], dtype=np.uint64))


def ranks_of(numbers: Sequence[int]) -> Ranks:
    """The rank of each term by the number that it was given first; `numbers` in the order of the ranks."""
    ranks = np.empty(len(numbers), np.uint64)
    ranks[np.array(numbers, np.intp)] = np.arange(len(numbers))
    return ranks


def occurrences(one: Collected, ranks: Ranks, places: Ranks) -> tuple[Pairs, Counts]:
    """Term and place of what rows hold, sorted, and how often; `places`: of each row."""
    pairs = ranks[np.frombuffer(one.terms, np.uint32)]
    pairs <<= np.uint64(32)
    pairs |= np.repeat(places, np.array(one.lengths, np.uint32))
    pairs.sort()
    firsts = np.flatnonzero(np.diff(pairs, prepend=~pairs[:1]))
    counts = np.diff(firsts, append=len(pairs))
    return pairs[firsts], np.minimum(counts, MOST_COUNTED).astype(np.uint16)


def write_field(
    target: tuple[Path, str],
    found: tuple[Pairs, Counts],
    lengths: Lengths,
    terms: int,
    partitions: Partitions,
) -> dict[str, list[int]]:
    """Write where terms are, lengths by place; returns each partition's summed and least length."""
    (folder, name), (pairs, counts) = target, found
    bounds = np.arange(terms + 1, dtype=np.uint64) << np.uint64(32)
    np.save(folder / f"{name}.starts.npy", np.searchsorted(pairs, bounds).astype(np.uint64))
    np.save(folder / f"{name}.places.npy", pairs.astype(np.uint32))
    np.save(folder / f"{name}.counts.npy", counts)
    np.save(folder / f"{name}.lengths.npy", lengths)
    parts = [lengths[start:stop] for start, stop in partitions.spans]
    return {
        "sums": [int(part.sum(dtype=np.uint64)) for part in parts],
        "shortest": [int(part.min()) for part in parts],
    }


def write_manifest(
    folder: Path,
    analysis: Analysis,
    partitions: Partitions,
    lengths: dict[str, dict[str, list[int]]],
) -> None:
    """Write what is told of the whole."""
    manifest = {
        "format": FORMAT,
        "analysis": asdict(analysis),
        "partitions": asdict(partitions),
        "lengths": lengths,
    }
    text = json.dumps(manifest, ensure_ascii=False, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


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
