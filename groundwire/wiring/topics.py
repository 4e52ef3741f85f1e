"""What refusals say can be asked where no intents do: the names of the documents that the reader may see."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.corpus import Snapshot

KEPT = 32


class Topics:
    """Names by corpus version and labels, read once while in use. Blocks: call it off the loop."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def of(self, snapshot: "Snapshot", labels: tuple[str, ...]) -> tuple[str, ...]:
        """The names, and how many more there are."""
        key = snapshot.version, frozenset(labels)
        if key not in self._known:
            from groundwire.corpus.contents import contents

            names, more = contents(snapshot, labels)
            newest = list(self._known.items())[1 - KEPT :]
            self._known = {**dict(newest), key: (*names, f"and {more} more") if more else names}
        return self._known[key]
