"""How the passages of a search look in a terminal, with or without the reasons for their order."""

from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .search import Searched
from .words import moved_by, place_of

if TYPE_CHECKING:
    from groundwire.wiring.searching import Explained, Part

BAR = 24
SNIPPET = 240
_COLOURS = {
    "keyword": "blue",
    "vector": "magenta",
    "feedback": "cyan",
    "pairs": "green",
    "numbers": "yellow",
}


def show(out: Console, searched: Searched, *, explain: bool) -> None:
    """Print the passages in their order."""
    passages = searched.found.passages
    kept = searched.profile.retrieve.k
    if not passages:
        out.print("nothing found: no passage has evidence for it", style="yellow")
    best = _Best(searched)
    for one in passages:
        if one.passage.final_rank == kept + 1:
            out.print(Rule(f"an answer is written from the first {kept}", style="dim"))
        out.print(_explained(one, best) if explain else _listed(one))
        out.print()
    if explain:
        out.print(_footer(searched), style="dim")


class _Best:
    """The highest of each score: what a full bar stands for."""

    def __init__(self, searched: Searched) -> None:
        passages = [one.passage for one in searched.found.passages]
        self.keyword = max((one.keyword_score for one in passages), default=0.0)
        self.fused = max((one.hybrid_score for one in passages), default=0.0)
        told = [sum(max(part.points, 0.0) for part in one.told) for one in searched.found.passages]
        self.told = max(told, default=0.0)


def _head(one: "Explained") -> Text:
    passage = one.passage
    head = Text(f"{passage.final_rank:>2} ", style="bold")
    if one.moved is not None:
        up = passage.final_rank < passage.hybrid_rank
        by = abs(passage.hybrid_rank - passage.final_rank)
        head.append(f"{'▲' if up else '▼'}{by} ", style="green" if up else "red")
    head.append(place_of(passage), style="bold")
    return head.append(f"  {passage.source}", style="dim")


def _listed(one: "Explained") -> RenderableType:
    text = " ".join(one.passage.text.split())
    cut = text if len(text) <= SNIPPET else f"{text[:SNIPPET].rstrip()} …"
    return Group(_head(one), Padding(Text(cut), (0, 0, 0, 3)))


def _explained(one: "Explained", best: _Best) -> RenderableType:
    passage = one.passage
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(min_width=8)
    for _ in range(2):
        table.add_column(justify="right")
    table.add_column(min_width=BAR)
    table.add_column()
    bar = _bar(one.fused[0].value, best.keyword, "keyword")
    table.add_row("keyword", f"{passage.keyword_score:.3f}", _rank(one.keyword_rank), bar)
    if passage.vector_score is not None:
        bar = _bar(passage.vector_score, 1.0, "vector")
        table.add_row("vector", f"{passage.vector_score:.3f}", _rank(one.vector_rank), bar)
    bar, sums = _stack(one.fused, best.fused), _sum(one.fused)
    table.add_row("fusion", f"{passage.hybrid_score:.3f}", _rank(passage.hybrid_rank), bar, sums)
    if passage.rerank_score is not None:
        bar, sums = _stack(one.told, best.told), _sum(one.told)
        table.add_row("rerank", f"{passage.rerank_score:.3f}", _rank(passage.final_rank), bar, sums)
    lines: list[RenderableType] = [_listed(one), Padding(table, (0, 0, 0, 3))]
    if (why := moved_by(one)) is not None:
        up = passage.final_rank < passage.hybrid_rank
        lines.append(Padding(Text(why, style="green" if up else "red"), (0, 0, 0, 3)))
    return Group(*lines)


def _rank(rank: int | None) -> str:
    return "–" if rank is None else f"#{rank}"


def _sum(parts: "tuple[Part, ...]") -> Text:
    told = Text()
    for part in parts:
        if part.points:
            told.append(" + " if told else "= ")
            told.append(f"{part.points:.3f} {part.name}", style=_COLOURS.get(part.name, ""))
    return told


def _bar(value: float, full: float, name: str) -> Text:
    return Text("█" * _cells(value, full), style=_COLOURS.get(name, ""))


def _stack(parts: "tuple[Part, ...]", full: float) -> Text:
    bar = Text()
    for part in parts:
        bar.append("█" * _cells(part.points, full), style=_COLOURS.get(part.name, "white"))
    return bar


def _cells(value: float, full: float) -> int:
    return round(BAR * max(value, 0.0) / full) if full > 0.0 else 0


def _footer(searched: Searched) -> str:
    retrieve, context = searched.profile.retrieve, searched.found.context
    also = f"; searched for {searched.found.sought!r}" if searched.found.sought else ""
    return (
        f"profile {searched.profile.name}, corpus {context.corpus_version}, "
        f"{searched.found.candidates} candidates by {' and '.join(context.signals)}; "
        f"fusion {retrieve.fusion}, alpha {retrieve.alpha:g}; rerank {retrieve.rerank}{also}"
    )
