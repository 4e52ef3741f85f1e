"""What must be said beside quotes: written by `synthesize`, and demanded by `critic`, from the same values. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from typing import get_args

from contracts import Caveat, CaveatKind, Intent

from .entities import Vocabulary
from .machine import passes_for_ours
from .naming import Told, named_in, told
from .tokens import Analyzer, words

MOST_VALUES, LONGEST_VALUE = 5, 200
ALIKE = 0.75
"""The share of terms that two sentences have in common to be about the same."""
KINDS: tuple[CaveatKind, ...] = get_args(CaveatKind)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MEASURE = re.compile(r"(\d[\d.,:]*)\W{0,2}\s?([^\W\d_]+)")


@dataclass(frozen=True)
class Noting:
    """Which caveats are given, and by what. `old_after_days`: from when on a source is old."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    kinds: frozenset[CaveatKind] = frozenset(KINDS)
    old_after_days: int = 730
    analyze: Analyzer = field(default_factory=Analyzer)


@dataclass(frozen=True)
class Quoted:
    """A quote with what stands around it: `passage` is the text that it is from, `heading` what is above that."""

    text: str
    passage: str
    heading: str
    doc_id: str
    title: str
    dated: str | None = None


def due(intent: Intent, quotes: Sequence[Quoted], noting: Noting) -> tuple[Caveat, ...]:
    """Every caveat that these quotes need, in the order of the kinds; none without quotes.

    `partly_covered` is not among them: what is open is known to who looked for it.
    """
    if not quotes:
        return ()
    found = [*_entities(intent, quotes, noting), *_named(intent, quotes, noting.vocabulary)]
    if disagreeing := _disagreeing(quotes, noting):
        found.append(Caveat(kind="sources_disagree", values=disagreeing))
    if old := _old(intent, quotes, noting.old_after_days):
        found.append(Caveat(kind="source_is_old", values=old))
    if any(passes_for_ours(quote.text, quote.heading) for quote in quotes):
        found.append(Caveat(kind="addressed_to_machine"))
    return tuple(caveat for caveat in found if caveat.kind in noting.kinds)


def uncovered(questions: Sequence[str]) -> tuple[Caveat, ...]:
    """The caveat for sub-questions that nothing answers; none without any."""
    if not questions:
        return ()
    return (Caveat(kind="partly_covered", values=_values(questions)),)


def _entities(intent: Intent, quotes: Sequence[Quoted], noting: Noting) -> tuple[Caveat, ...]:
    text = "\n".join(quote.text for quote in quotes)
    return noting.vocabulary.caveats(intent.entities, text)


def _named(intent: Intent, quotes: Sequence[Quoted], vocabulary: Vocabulary) -> Iterator[Caveat]:
    """Numbers, dates and names that neither the quoted passages nor what is above them has."""
    asked = named_in(intent.cleaned_text)
    if not (asked.numbers or asked.dates or asked.names):
        return
    said = told("\n".join(f"{quote.heading}\n{quote.passage}" for quote in quotes))
    lacking = {
        "number_not_in_source": [one for one in asked.numbers if not said.has_number(one)],
        "date_not_in_source": [one for one in asked.dates if not said.has_words(one)],
        "name_not_in_source": [one for one in asked.names if _is_strange(one, said, vocabulary)],
    }
    for kind in KINDS:
        if lacking.get(kind):
            yield Caveat(kind=kind, values=_values(lacking[kind]))


def _is_strange(name: str, said: Told, vocabulary: Vocabulary) -> bool:
    """Whether a name is neither in the source nor one of the entities, which have caveats of their own."""
    return not said.has_words(name) and not vocabulary.named_in(name)


def _disagreeing(quotes: Sequence[Quoted], noting: Noting) -> tuple[str, ...]:
    """The titles of documents that say the same with other numbers, in the order of the quotes."""
    said = [
        (quote, sentence)
        for quote in quotes
        for sentence in _SENTENCE.split(quote.text)
        if _MEASURE.search(sentence)
    ]
    titles: dict[str, None] = {}
    for (one, left), (other, right) in combinations(said, 2):
        if one.doc_id != other.doc_id and _contradict(left, right, noting):
            titles |= {one.title: None, other.title: None}
    return _values(list(titles))


def _contradict(left: str, right: str, noting: Noting) -> bool:
    one, other = _measures(left), _measures(right)
    if all(one[unit] & other[unit] for unit in one.keys() & other.keys()):
        return False
    entities = noting.vocabulary.named_in
    return _likeness(left, right, noting.analyze) >= ALIKE and entities(left) == entities(right)


def _measures(sentence: str) -> dict[str, set[str]]:
    """The numbers of a sentence by the word after each."""
    found: dict[str, set[str]] = {}
    for number, unit in _MEASURE.findall(sentence.lower()):
        found.setdefault(unit.removesuffix("s"), set()).add(number.rstrip(".,:"))
    return found


def _likeness(left: str, right: str, analyze: Analyzer) -> float:
    """Jaccard's share of the terms that aren't numbers."""
    one, other = (
        {term for term in analyze(text) if not any(letter.isdigit() for letter in term)}
        for text in (left, right)
    )
    return len(one & other) / len(one | other) if one and other else 0.0


def _old(intent: Intent, quotes: Sequence[Quoted], days: int) -> tuple[str, ...]:
    """The dates of sources that were old when the question was asked, oldest first."""
    asked_at = intent.query.asked_at
    if asked_at is None:
        return ()
    dates = {quote.dated[:10] for quote in quotes if quote.dated}
    return _values(
        [
            one
            for one in sorted(dates)
            if (asked_at.date() - _date(one, asked_at.date())).days > days
        ]
    )


def _date(text: str, otherwise: date) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:  # a year or a month alone is no day to count from
        return otherwise


def _values(found: Sequence[str]) -> tuple[str, ...]:
    """As many as a caveat names, none longer than a name may be."""
    kept = [text.strip() for text in found if words(text)][:MOST_VALUES]
    return tuple(
        text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…" for text in kept
    )
