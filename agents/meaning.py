"""How near sentences are to a question by what they mean as wholes: the port, and the features of it. Pure."""

from collections.abc import Sequence
from typing import Protocol

Row = tuple[float, ...]


class Mean(Protocol):
    """Gauges sentences against a question."""

    def __call__(self, question: str, sentences: Sequence[str]) -> Row:
        """A cosine for each sentence; the same for the same one, whatever else is gauged with it or was before."""
        ...


def meaning_features(meant: Row, groups: Sequence[Sequence[int]]) -> list[dict[str, float]]:
    """Of each sentence, beside the others of its group, which is its passage's, and beside all; nothing of nothing."""
    found: dict[int, dict[str, float]] = {}
    for group in groups if meant else ():
        order = sorted(group, key=lambda at: (-meant[at], at))
        for nth, at in enumerate(order):
            found[at] = {
                "meant": meant[at],
                "meant_below": meant[at] - meant[order[0]],
                "meant_best": float(nth == 0),
                "meant_early": 1.0 / (1 + nth),
                "meant_all": meant[at] - max(meant),
            }
    return [found.get(at, {}) for group in groups for at in group]
