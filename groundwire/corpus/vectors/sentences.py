"""Vectors of the sentences of each passage, mapped into memory: what a passage says in one place counts by itself.

Sentences are read by the ordinal of their passage, never searched: others find the passages.
"""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .quantized import Bytes, Floats, dots, lengths, quantized

FORMAT = 1
MANIFEST, ROWS, STARTS = "sentences.json", "rows.bin", "starts.npy"


def write(folder: Path, passages: Iterable[NDArray[np.floating]], dimensions: int) -> int:
    """Store the rows of each passage in order, those without direction left out; how many passages there were."""
    folder.mkdir(parents=True, exist_ok=True)
    starts = array("q", [0])
    with (folder / ROWS).open("wb") as file:
        for rows in passages:
            stored = quantized(rows.reshape(-1, dimensions))
            stored = stored[np.any(stored, axis=1)]
            file.write(stored.tobytes())
            starts.append(starts[-1] + len(stored))
    np.save(folder / STARTS, np.array(starts, np.int64))
    told = {"format": FORMAT, "dimensions": dimensions, "rows": starts[-1]}
    (folder / MANIFEST).write_text(json.dumps(told, sort_keys=True), encoding="utf-8")
    return len(starts) - 1


class SentenceVectors:
    """A store that `write` has written, for any number of processes."""

    def __init__(self, rows: Bytes, starts: NDArray[np.int64]) -> None:
        self._rows, self._starts = rows, starts

    @classmethod
    def open(cls, folder: Path) -> "SentenceVectors":
        """Map a store into memory."""
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ValueError(f"{folder / MANIFEST} has format {told['format']}, not {FORMAT}")
        shape = (told["rows"], told["dimensions"])
        # Nothing can't be mapped.
        rows = np.memmap(folder / ROWS, np.int8, "r", shape=shape) if shape[0] else np.empty(shape)
        return cls(np.asarray(rows, np.int8), np.load(folder / STARTS, mmap_mode="r"))

    def nearest(
        self, asked: Bytes, passages: Mapping[int, Bytes], ordinals: Sequence[int]
    ) -> list[float]:
        """How near each passage's best sentence is to what is asked, 0 for a passage without a vector.

        A sentence means what it does among its neighbours: compared is the sum of its direction and its passage's.
        """
        known = [ordinal for ordinal in ordinals if ordinal in passages]
        if not known or not asked.any():
            return [0.0] * len(ordinals)
        found = dict(zip(known, self._nearest(asked, passages, known).tolist(), strict=True))
        return [found.get(ordinal, 0.0) for ordinal in ordinals]

    def _nearest(
        self, asked: Bytes, passages: Mapping[int, Bytes], ordinals: Sequence[int]
    ) -> Floats:
        spans = [(self._starts[at], self._starts[at + 1]) for at in ordinals]
        rows = np.concatenate([self._rows[start:stop] for start, stop in spans])
        owner = np.repeat(np.arange(len(ordinals)), [stop - start for start, stop in spans])
        own = np.stack([passages[at] for at in ordinals])
        length, own_lengths, row_lengths = lengths(asked[None])[0], lengths(own), lengths(rows)
        found: Floats = dots(own, asked) / (own_lengths * length)
        beside = found[owner]
        alone = dots(rows, asked) / (row_lengths * length)
        # Whole numbers, and sums far below what 32 bits hold: the same in any order.
        common = np.einsum("ij,ij->i", rows.astype(np.int32), own[owner].astype(np.int32))
        likeness = common / (row_lengths * own_lengths[owner])
        both = (alone + beside) / np.sqrt(np.maximum(2.0 + 2.0 * likeness, 1e-9))
        np.maximum.at(found, owner, both)
        return found
