"""The next keyword index from the one before: what didn't change is renumbered, only new rows are analyzed.

The result is the same, byte for byte, as if all rows had been indexed at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..partitions import Labels, arrange
from .files import (
    Collected,
    Collector,
    Field,
    Files,
    Pairs,
    Row,
    occurrences,
    read,
    write_field,
    write_manifest,
    write_terms,
)
from .scoring import Counts


@dataclass(frozen=True)
class Kept:
    """Rows that stay as they are: how they were named before, how they are named now, and their labels."""

    before: tuple[int, ...]
    now: tuple[int, ...]
    labels: tuple[Labels, ...]


@dataclass(frozen=True)
class _Move:
    """From the old places to the new ones; -1 where a row is gone. `rows`: how many there are now."""

    places: NDArray[np.int64]
    rows: int


def update(folder: Path, before: Path, kept: Kept, rows: Iterable[Row]) -> int:
    """Index new rows together with what is kept of an older index; how many that makes."""
    old = read(before)
    collector = Collector(old.analysis)
    for row in rows:
        collector.take(row)
    ordinals = [*kept.now, *collector.ordinals]
    partitions, order = arrange(ordinals, [*kept.labels, *collector.labels])
    places = np.empty(len(order), np.int64)
    places[np.array(order, np.intp)] = np.arange(len(order))
    move = _move(old, kept, places)
    terms, ranks, moved_ranks = _merged_terms(old, collector, move)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "ordinals.npy", np.array(ordinals, np.int64)[np.array(order, np.intp)])
    write_terms(folder, terms)
    new_places = places[len(kept.now) :].astype(np.uint64)
    lengths = {
        name: write_field(
            (folder, name),
            _merged(
                _moved(old.fields[name], moved_ranks, move), occurrences(one, ranks, new_places)
            ),
            _lengths(old.fields[name], one, move, new_places),
            len(terms),
            partitions,
        )
        for name, one in collector.fields.items()
    }
    write_manifest(folder, old.analysis, partitions, lengths)
    return len(order)


def _move(old: Files, kept: Kept, places: NDArray[np.int64]) -> _Move:
    by_ordinal = np.argsort(old.ordinals)
    at = np.searchsorted(old.ordinals, np.array(kept.before, np.int64), sorter=by_ordinal)
    moved = np.full(len(old.ordinals), -1, np.int64)
    moved[by_ordinal[at]] = places[: len(kept.now)]
    return _Move(moved, len(places))


def _merged_terms(
    old: Files, collector: Collector, move: _Move
) -> tuple[list[bytes], NDArray[np.uint64], NDArray[np.uint64]]:
    """All terms that are left, the ranks of the collector's, and those of the old ones (0 where none is left)."""
    alive = np.zeros(len(old.terms), np.bool_)
    for field in old.fields.values():
        alive[_numbers(field)[move.places[field.places] >= 0]] = True
    before = old.terms.all()
    known = {term.encode(): number for term, number in collector.known.items()}
    terms = sorted({*(before[at] for at in np.flatnonzero(alive).tolist()), *known})
    rank = {term: number for number, term in enumerate(terms)}
    numbers = np.array([rank[term] for term in known], np.uint64)
    ranks = np.empty(len(known), np.uint64)
    ranks[np.array(list(known.values()), np.intp)] = numbers
    return terms, ranks, np.array([rank.get(term, 0) for term in before], np.uint64)


def _numbers(field: Field) -> NDArray[np.intp]:
    """The number of the term of each entry of the postings."""
    starts = field.starts.astype(np.intp)
    return np.repeat(np.arange(len(starts) - 1), starts[1:] - starts[:-1])


def _moved(field: Field, ranks: NDArray[np.uint64], move: _Move) -> tuple[Pairs, Counts]:
    places = move.places[field.places]
    stays = places >= 0
    pairs = ranks[_numbers(field)[stays]] << np.uint64(32)
    pairs |= places[stays].astype(np.uint64)
    return pairs, field.counts[stays]


def _merged(moved: tuple[Pairs, Counts], new: tuple[Pairs, Counts]) -> tuple[Pairs, Counts]:
    pairs = np.concatenate((moved[0], new[0]))
    counts = np.concatenate((moved[1], new[1]))
    order = np.argsort(pairs, kind="stable")  # two sorted runs, mostly: next to nothing to do
    return pairs[order], counts[order]


def _lengths(
    field: Field, one: Collected, move: _Move, new_places: NDArray[np.uint64]
) -> NDArray[np.uint32]:
    lengths = np.empty(move.rows, np.uint32)
    stays = move.places >= 0
    lengths[move.places[stays]] = field.lengths[stays]
    lengths[new_places.astype(np.intp)] = np.array(one.lengths, np.uint32)
    return lengths
