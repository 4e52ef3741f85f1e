"""The retrieve agent alone, explained: on a corpus, a folder or a file, for whoever asks why."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from agents.explanation import Explained, Explanation, Moved, Part, explain

from .assembly import Assembly
from .ranking import ranking_of, search_of
from .retrieval import asking
from .rules import Reader

Explainer = Callable[[str], Coroutine[Any, Any, Explanation]]


def build_explainer(assembly: Assembly, *, labels: Sequence[str], k: int | None) -> Explainer:
    """The search of an assembly for a reader of these labels; `k` passages instead of the profile's."""
    search = search_of(assembly.profile, Reader(assembly), endpoint=assembly.endpoint)
    ranking = ranking_of(assembly.profile)
    wanted = ranking if k is None else replace(ranking, k=k)

    async def find(question: str) -> Explanation:
        return await explain(asking(question, labels), search=search, ranking=wanted)

    return find


__all__ = ["Explained", "Explainer", "Explanation", "Moved", "Part", "build_explainer"]
