"""What differs between two versions, by the digests of their documents."""

from collections.abc import Mapping
from dataclasses import dataclass

from .snapshot import Snapshot


@dataclass(frozen=True)
class Difference:
    """Ids of documents, from one version to another. `settings`: what else differs, by name."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    settings: tuple[str, ...]


def difference(old: Snapshot, new: Snapshot) -> Difference:
    """What one has to do to the old version to have the new one."""
    before, after = _digests(old), _digests(new)
    both = before.keys() & after.keys()
    told = {
        "chunking": (old.manifest.chunking, new.manifest.chunking),
        "intents": (old.intents, new.intents),
        "parts": (old.manifest.parts, new.manifest.parts),
    }
    return Difference(
        added=tuple(name for name in after if name not in before),
        changed=tuple(name for name in after if name in both and before[name] != after[name]),
        removed=tuple(name for name in before if name not in after),
        unchanged=sum(before[name] == after[name] for name in both),
        settings=tuple(name for name, (left, right) in told.items() if left != right),
    )


def _digests(snapshot: Snapshot) -> Mapping[str, str]:
    return dict(snapshot.rows("SELECT doc_id, digest FROM documents ORDER BY ordinal"))
