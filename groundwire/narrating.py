"""A watch that tells the log what becomes of deliveries and queries."""

from collections.abc import Callable

from bus import Handling, Hop, Log

_ENDS = frozenset({"answered", "out_of_scope", "rejected"})


class Narrator:
    """One line for each delivery at level debug, else for each query that ends and whatever is unusual."""

    def __init__(self, log: Log, *, is_verbose: bool) -> None:
        self.is_measuring = False
        self._log = log
        self._is_verbose = is_verbose
        self.started: Callable[[Callable[[], Handling]], None] | None = (
            self._begun if is_verbose else None
        )

    def settled(self, hop: Hop, /) -> None:
        """Tell what became of a delivery."""
        became = hop.became
        if became.outcome == "emitted" and not self._is_verbose:
            return
        fields = hop.tell().fields()
        fields["waited_ms"] = round(hop.waited_s * 1000, 3)
        fields["handled_ms"] = round(hop.handled_s * 1000, 3)
        if became.reason:
            fields["reason"] = became.reason
        if became.error:
            fields["error"] = became.error
        is_end = became.result in _ENDS
        self._log(f"query.{became.result}" if is_end else f"delivery.{became.outcome}", **fields)

    def lagged(self, seconds: float, /) -> None:
        """Nothing: it is measured, not told."""

    def _begun(self, tell: Callable[[], Handling]) -> None:
        self._log("delivery.started", **tell().fields())
