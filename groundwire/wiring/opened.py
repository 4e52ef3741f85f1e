"""What is opened or built for a corpus version, kept while the version is in use."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from groundwire.corpus import Snapshot

T = TypeVar("T")

KEPT = 2
"""The current version, and the one that drafts may still speak of."""


class Opened(Generic[T]):
    """Opens one thing for each version, once however many threads ask. Blocks: call it off the loop."""

    def __init__(self, opening: "Callable[[Snapshot], T]") -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, T] = OrderedDict()

    def of(self, snapshot: "Snapshot") -> T:
        """What belongs to a version."""
        with self._lock:
            if snapshot.version not in self._kept:
                self._kept[snapshot.version] = self._opening(snapshot)
            self._kept.move_to_end(snapshot.version)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[snapshot.version]
