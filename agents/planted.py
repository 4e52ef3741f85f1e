"""Which sentences of a document somebody planted for a machine: for them to be set aside, not only not quoted. Pure.

Stricter than `machine`, since what is set aside by mistake is found by nobody. A task that could be people's own, such
as "Generate a report", is planted only where the rest of the document doesn't speak of such things; a question only
where it doesn't either, and where nothing follows that could answer it.
"""

import re
from collections import Counter
from collections.abc import Sequence

from .machine import addressed_at, addresses_machine, orders_machine
from .sentences import Span, only_asks
from .tokens import stem, words

VERSION = 2
"""Raised whenever other sentences are told: documents are then cut again."""
OWN_TASK, OWN_QUESTION = 0.8, 0.5
"""The share of its words, a task's verb apart, that the rest of a document has too where it is the document's own."""
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?=[ \t]*[a-z0-9(])")
_END = re.compile(r"(?<=[^\s.]{3})[.!?](?=\s+\S)")
_CELL_END = re.compile(r"(?=[ \t]*\|)")
_CLOSES = re.compile(r"(?:[^\"'“”‘’]|(?<=\w)['’](?=\w))*(?:”|(?<=\S)[\"'’])")
_REACH = 1_000
_LEFT_OPEN = re.compile(r"\?[\s\"'”’)*_]*(?:\Z|\n\s*#)")


def may_hold_planted(text: str) -> bool:
    """Whether any sentence of a document could be; quick, since nearly none holds one."""
    return _LEFT_OPEN.search(text) is not None or addresses_machine(_unwrapped(text))


def planted_from(
    sentences: Sequence[str], stopwords: frozenset[str] = frozenset()
) -> tuple[Span | None, ...]:
    """For each sentence of a document, in order, what of it is; None where nothing is.

    Headings are sentences that begin with a `#`, rows those that begin with a `|`.
    """
    told = [_unwrapped(sentence) for sentence in sentences]
    spans = [_span(sentence) for sentence in told]
    used = Counter(
        term
        for one, span in zip(told, spans, strict=True)
        for term in _terms(_without(one, span), stopwords)
    )
    found = [
        None if span is None or _is_own_task(one[slice(*span)], used, stopwords) else span
        for one, span in zip(told, spans, strict=True)
    ]
    follows = "#"  # as if another part began behind the last sentence
    for at in reversed(range(len(told))):
        if found[at] is not None:
            continue
        if follows.startswith("#") and _is_strange_question(told[at], used, stopwords):
            found[at] = 0, len(told[at])
        else:
            follows = told[at]
    return tuple(found)


def _span(text: str) -> Span | None:
    """From the first word meant for a machine to the end of the last such sentence, or of its cell; or all of a row."""
    starts = list(addressed_at(text))
    if not starts:
        return None
    stop = len(text)
    if text.startswith("|"):
        if not words(text[: starts[0]]):
            return starts[0], stop
        cell = _CELL_END.search(text, starts[-1])
        stop = cell.start() if cell else stop
    ends = (found.end() for found in _END.finditer(text, starts[-1], stop))
    return starts[0], next((end for end in ends if not _is_in_quotes(text, end)), stop)


def _is_in_quotes(text: str, at: int) -> bool:
    """Whether the next quotation mark closes."""
    return _CLOSES.match(text[at : at + _REACH]) is not None


def _without(text: str, span: Span | None) -> str:
    return text if span is None else f"{text[: span[0]]} {text[span[1] :]}"


def _is_own_task(text: str, used: Counter[str], stopwords: frozenset[str]) -> bool:
    if orders_machine(text):
        return False
    _, _, task = text.lstrip().partition(" ")
    return _share(_terms(task, stopwords), used, 1) >= OWN_TASK


def _is_strange_question(text: str, used: Counter[str], stopwords: frozenset[str]) -> bool:
    if text.startswith("#") or not only_asks(text):
        return False
    terms = _terms(text, stopwords)
    return len(terms) > 1 and _share(terms, used, 2) < OWN_QUESTION


def _unwrapped(text: str) -> str:
    """As long, without the line ends that only a page's width put into a sentence."""
    return _WRAPPED.sub(lambda found: " " * len(found[0]), text)


def _terms(text: str, stopwords: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in stopwords)


def _share(terms: frozenset[str], used: Counter[str], least: int) -> float:
    """The share of terms that so many sentences have."""
    return sum(used[term] >= least for term in terms) / len(terms) if terms else 1.0
