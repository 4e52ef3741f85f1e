"""What a corpus has to offer to a reader: the names of its documents, or of the parts of the only one."""

import json
import re
from collections.abc import Iterable

from .snapshot import Snapshot

MOST_NAMES = 8
LONGEST_NAME = 80
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def contents(
    snapshot: Snapshot, labels: Iterable[str], most: int = MOST_NAMES
) -> tuple[tuple[str, ...], int]:
    """At most so many names of what the labels open, in stored order, and how many documents are left out.

    The largest documents are named; of a single one its highest headings.
    """
    mine = frozenset(labels)
    rows = snapshot.rows(
        "SELECT labels, about, passages, first_passage FROM documents ORDER BY ordinal"
    )
    opened = [row for row in rows if row[2] and not mine.isdisjoint(json.loads(row[0]))]
    sizes: dict[str, int] = {}
    for _, about, passages, _ in opened:
        title = _short(json.loads(about)["title"])
        sizes[title] = sizes.get(title, 0) + passages
    if len(opened) == 1:
        (_, _, passages, first), (title,) = opened[0], sizes
        return _headings(snapshot, title, range(first, first + passages), most) or (title,), 0
    largest = set(sorted(sizes, key=lambda title: -sizes[title])[:most])
    return tuple(title for title in sizes if title in largest), len(sizes) - len(largest)


def _headings(snapshot: Snapshot, title: str, ordinals: range, most: int) -> tuple[str, ...]:
    """The highest headings below the title, the first of them."""
    rows = snapshot.rows(
        "SELECT about FROM passages WHERE ordinal >= ? AND ordinal < ? ORDER BY ordinal",
        (ordinals.start, ordinals.stop),
    )
    names: dict[str, None] = {}
    for (about,) in rows:
        path = [_short(name) for name in json.loads(about)[0]]
        below = [name for name in path if name != title]
        if below:
            names[below[0]] = None
    return tuple(names)[:most]


def _short(name: str) -> str:
    plain = " ".join(_LINK.sub(r"\1", name).split())
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 1].rstrip()}…"
