"""Which rows a reader's labels open. Rows of the same labels lie together, so what is hidden is never read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

Labels = tuple[str, ...]
Span = tuple[int, int]


@dataclass(frozen=True)
class Partitions:
    """Places 0…n-1, cut into runs of the same labels. `sizes[i]` places carry `labels[i]`.

    Invariant: labels are sorted, no two partitions have the same.
    """

    labels: tuple[Labels, ...]
    sizes: tuple[int, ...]

    @property
    def spans(self) -> list[Span]:
        """The first place of each partition and the one after its last."""
        ends = list(accumulate(self.sizes))
        return list(zip([0, *ends], ends, strict=False))

    def opened(self, labels: Iterable[str]) -> list[int]:
        """The partitions that share a label with the reader's."""
        mine = frozenset(labels)
        return [at for at, own in enumerate(self.labels) if not mine.isdisjoint(own)]


def arrange(ordinals: Sequence[int], labels: Sequence[Labels]) -> tuple[Partitions, list[int]]:
    """The partitions of these rows, and the rows by place: by labels, then by ordinal.

    The order in which rows come doesn't matter; a repeated ordinal is a ValueError.
    """
    if len(set(ordinals)) != len(ordinals):
        raise ValueError("an ordinal was given twice")
    members: dict[Labels, list[int]] = {}
    for row, own in enumerate(labels):
        members.setdefault(own, []).append(row)
    by_labels: dict[Labels, list[int]] = {}
    for own, rows in members.items():
        by_labels.setdefault(tuple(sorted(set(own))), []).extend(rows)
    known = sorted(by_labels)
    order = [row for own in known for row in sorted(by_labels[own], key=ordinals.__getitem__)]
    return Partitions(tuple(known), tuple(len(by_labels[own]) for own in known)), order


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same places in as few spans as possible; `spans` come in order."""
    found: list[Span] = []
    for start, stop in spans:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        elif start < stop:
            found.append((start, stop))
    return found
