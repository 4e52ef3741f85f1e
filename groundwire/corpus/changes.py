"""What an ingestion has to do: the sources as they are, compared with those that a snapshot was made of. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .database import StoredSource


@dataclass(frozen=True)
class Changes:
    """Names of sources. `moved`: from where to where, the same bytes under another name."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)


def compare(old: Mapping[str, StoredSource], new: Sequence[StoredSource]) -> Changes:
    """How `new` differs from `old`. A source that another one's ids kept out in part counts as changed."""
    names = {source.name for source in new}
    gone: dict[str, list[str]] = defaultdict(list)
    for source in old.values():
        if source.name not in names:
            gone[source.raw].append(source.name)
    moved = []
    added = []
    for source in new:
        if source.name in old:
            continue
        if before := gone.get(source.raw):
            moved.append((before.pop(0), source.name))
        else:
            added.append(source.name)
    changed = tuple(s.name for s in new if s.name in old and not is_same(old[s.name], s))
    return Changes(
        added=tuple(added),
        changed=changed,
        moved=tuple(moved),
        removed=tuple(name for names in gone.values() for name in names),
        unchanged=len(new) - len(added) - len(changed) - len(moved),
    )


def is_same(old: StoredSource, new: StoredSource) -> bool:
    """Whether reading the source again would give what is stored."""
    return old.whole and old.digest == new.digest
