"""A search as one HTML page: bars for each signal, who moved and why. It loads nothing and runs nothing."""

from importlib.resources import files
from typing import TYPE_CHECKING

from .markup import Markup, tag, together
from .search import Searched
from .words import TOLD, moved_by, place_of

if TYPE_CHECKING:
    from groundwire.wiring.searching import Explained, Part

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Were a sign of a document ever to slip through unescaped, the browser would still run and load nothing."""


def page(searched: Searched) -> str:
    """The whole page."""
    style = (files(__package__) / "page.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{searched.question} · Groundwire search"),
        tag("style", Markup(style)),
    )
    main = tag("main", _top(searched), *_passages(searched))
    return f"<!doctype html>\n{tag('html', head, tag('body', main), lang='en')}\n"


def _top(searched: Searched) -> Markup:
    retrieve, context = searched.profile.retrieve, searched.found.context
    facts = {
        "profile": searched.profile.name,
        "corpus": context.corpus_version,
        "labels": ", ".join(searched.labels),
        "candidates": f"{searched.found.candidates} by {' and '.join(context.signals)}",
        "searched for": searched.found.sought or searched.question,
        "fusion": f"{retrieve.fusion}, alpha {retrieve.alpha:g}",
        "rerank": retrieve.rerank,
    }
    told = {part.name: None for one in searched.found.passages for part in (*one.fused, *one.told)}
    return together(
        tag("p", "Groundwire search", class_="eyebrow"),
        tag("h1", searched.question),
        tag(
            "ul",
            *(tag("li", f"{name} ", tag("b", value)) for name, value in facts.items()),
            class_="facts",
        ),
        tag(
            "div",
            *(tag("span", f"{name}: {TOLD.get(name, '')}", class_=name) for name in told),
            class_="legend",
        ),
    )


def _passages(searched: Searched) -> list[Markup]:
    found, kept = searched.found.passages, searched.profile.retrieve.k
    if not found:
        return [tag("p", "Nothing found: no passage has evidence for it.", class_="none")]
    best = (
        max(one.passage.keyword_score for one in found),
        1.0,
        max(one.passage.hybrid_score for one in found),
        max(sum(max(part.points, 0.0) for part in one.told) for one in found),
    )
    cards = [_card(one, best, one.passage.final_rank > kept) for one in found]
    if len(cards) > kept:
        cards.insert(kept, tag("p", f"an answer is written from the first {kept}", class_="cut"))
    return cards


Full = tuple[float, float, float, float]


def _card(one: "Explained", full: Full, is_beyond: bool) -> Markup:
    passage = one.passage
    return tag(
        "article",
        tag(
            "header",
            tag("div", str(passage.final_rank), class_="place"),
            tag(
                "div",
                tag("h2", place_of(passage) or passage.doc_id),
                tag("div", f"{passage.source} · {passage.passage_id}", class_="source"),
            ),
            _badge(one),
        ),
        _why(one),
        _bars(one, full),
        tag(
            "details",
            tag("summary", f"{len(passage.text)} characters of text"),
            tag("blockquote", passage.text),
            **({} if is_beyond else {"open": "open"}),
        ),
        class_="beyond" if is_beyond else "kept",
    )


def _badge(one: "Explained") -> Markup:
    was, now = one.passage.hybrid_rank, one.passage.final_rank
    if was == now:
        return Markup("")
    sign, way = ("▲", "up") if now < was else ("▼", "down")
    return tag("span", f"{sign} {was} → {now}", class_=f"badge {way}")


def _why(one: "Explained") -> Markup:
    why = moved_by(one)
    return Markup("") if why is None else tag("p", why, class_="why")


def _bars(one: "Explained", full: Full) -> Markup:
    passage = one.passage
    rows = [*_row("keyword", passage.keyword_score, one.keyword_rank)]
    rows.append(_bar([("keyword", passage.keyword_score)], full[0]))
    if passage.vector_score is not None:
        rows += _row("vector", passage.vector_score, one.vector_rank)
        rows.append(_bar([("vector", passage.vector_score)], full[1]))
    rows += _row("fusion", passage.hybrid_score, passage.hybrid_rank)
    rows += _stack(one.fused, full[2])
    if passage.rerank_score is not None:
        rows += _row("rerank", passage.rerank_score, passage.final_rank)
        rows += _stack(one.told, full[3])
    return tag("dl", *rows)


def _row(name: str, score: float, rank: int | None) -> list[Markup]:
    return [
        tag("dt", name),
        tag("dd", f"{score:.3f}"),
        tag("dd", "–" if rank is None else f"#{rank}", class_="rank"),
    ]


def _stack(parts: "tuple[Part, ...]", full: float) -> list[Markup]:
    told = [part for part in parts if part.points]
    points = (tag("span", f"{part.name} {part.points:+.3f}", class_=part.name) for part in told)
    return [
        _bar([(part.name, part.points) for part in told], full),
        tag("dd", *points, class_="sum"),
    ]


def _bar(parts: list[tuple[str, float]], full: float) -> Markup:
    bits = (
        tag("i", class_=name, style=f"width:{100 * value / full:.1f}%")
        for name, value in parts
        if value > 0.0 and full > 0.0
    )
    return tag("dd", tag("div", *bits, class_="bar"))
