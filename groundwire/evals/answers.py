"""How well answers are chosen, and refused: the product's retrieve and synthesize on CLAP NQ and SQuAD 2.0.

Each set's weights are learned by cross-validation within it; every figure is of questions that they never saw.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from contracts import RetrievedContext, RetrievedPassage
from groundwire.models import Embedder
from groundwire.profiles import Profile
from groundwire.wiring import build_retriever
from groundwire.wiring.answering import Drafted, Extractor, extractor_of, taught

from .answersets import AnswerSet
from .collection import Entry
from .intents import auroc, refused_at
from .learning import Sight, Taught, cross_validated, folds, judge_all
from .metrics import interval
from .retrieval import System, document_of, embedder_of

KEPT = 0.9
HALF = 0.5
HALVINGS = 6
"""Of the brevities between 0 and 1, to find the longest answers that are at most half of the text."""
Tell = Callable[[str, int, int], None]
Found = tuple[list[Sight], list[Sight]]


async def sights(profile: Profile, found: AnswerSet, cache: Path, tell: Tell) -> Found:
    """Every question with what is retrieved for it, and with its own passage alone."""
    embedder = embedder_of(System(profile.name, profile), cache, tell)
    retrieve = build_retriever(profile, map(document_of, found.entries), embedder=embedder)
    fold_of, entries = folds(found), {entry.entry_id: entry for entry in found.entries}
    near = _near(found, embedder)
    ends, given = [], []
    for at, asked in enumerate(found.questions):
        context = await retrieve(asked.text)
        ends.append(Sight(asked, context, fold_of[asked.fold]))
        alone = _alone(context, entries[asked.entry_id], near[at])
        given.append(Sight(asked, alone, fold_of[asked.fold]))
        tell(f"{found.name}: retrieving", at + 1, len(found.questions))
    return ends, given


def _near(found: AnswerSet, embedder: Embedder | None) -> list[float | None]:
    """The cosine of each question with its own passage."""
    if embedder is None:
        return [None] * len(found.questions)
    texts = [f"{entry.title}\n{entry.text}".strip() for entry in found.entries]
    rows = dict(
        zip((entry.entry_id for entry in found.entries), embedder.embed(texts), strict=True)
    )
    asked = embedder.embed([question.text for question in found.questions])
    return [
        float(rows[question.entry_id] @ row)
        for question, row in zip(found.questions, asked, strict=True)
    ]


def _alone(context: RetrievedContext, entry: Entry, near: float | None) -> RetrievedContext:
    passage = RetrievedPassage(
        passage_id=entry.entry_id,
        doc_id=entry.entry_id,
        title=entry.title or " ",
        source="bench",
        text=entry.text,
        char_start=0,
        char_end=len(entry.text),
        keyword_score=1.0,
        vector_score=near,
        hybrid_score=1.0,
        hybrid_rank=1,
        final_rank=1,
    )
    return context.model_copy(update={"passages": (passage,), "parts": ()})


async def measure(profile: Profile, found: AnswerSet, cache: Path, tell: Tell) -> dict[str, Any]:
    """The figures of a set."""
    ends, given = await sights(profile, found, cache, tell)
    extractor = replace(extractor_of(profile), beta=1.0, brevity=0.0)  # what is measured is F1
    chosen = bool(found.sentences)
    ways = {}
    for name, one in (("end_to_end", ends), ("given", given)):
        seen = judge_all(
            extractor,
            one,
            lambda done, name=name: tell(f"{found.name}: {name}", done, len(ends)),  # type: ignore[misc]
        )
        ways[name] = (one, cross_validated(extractor, one, seen, chosen=chosen))
    figures = {name: _figures(extractor, found, *way) for name, way in ways.items()}
    answerable = sum(question.is_answerable for question in found.questions)
    return {
        "set": found.name,
        "questions": len(found.questions),
        "answerable": answerable,
        "skipped": len(found.skipped),
        **figures,
    }


def _figures(
    extractor: Extractor, found: AnswerSet, sights: Sequence[Sight], lessons: Sequence[Taught]
) -> dict[str, Any]:
    by_fold = [taught(extractor, one.sentence, one.answer) for one in lessons]
    drafted = [by_fold[sight.fold](sight.context) for sight in sights]
    evidence = np.array([one.evidence or 0.0 for one in drafted])
    has = np.array([sight.asked.is_answerable for sight in sights])
    figures = {
        "auroc": round(auroc(evidence[has], evidence[~has]), 4),
        "refused_at_90": round(refused_at(KEPT, evidence[has], evidence[~has]), 4),
        "spans_equal": _equal(found, drafted),
    }
    answerable = [at for at in range(len(sights)) if has[at]]
    if found.sentences:
        return {**figures, **_chosen(found, sights, by_fold, answerable, drafted)}
    return {**figures, **_inside(sights, by_fold, answerable)}


def _equal(found: AnswerSet, drafted: Iterable[Drafted]) -> float:
    """The share of quotes that are the entry's text at their place, character by character."""
    texts = {entry.entry_id: entry.text for entry in found.entries}
    same = [
        texts[one.segment.doc_id][one.segment.char_start : one.segment.char_end].encode()
        == one.segment.text.encode()
        for draft in drafted
        for one in draft.quotes
    ]
    return sum(same) / len(same) if same else 1.0


def _chosen(
    found: AnswerSet,
    sights: Sequence[Sight],
    by_fold: Sequence[Extractor],
    answerable: Sequence[int],
    drafted: Sequence[Drafted],
) -> dict[str, Any]:
    """F1 of sentences: as drafted, of the whole best passage, and of answers of at most half of the text."""
    scores = [_f1(found, sights[at], drafted[at]) for at in answerable]
    mean = interval(scores)
    figures = {
        "f1": round(mean.mean, 4),
        "f1_interval": [round(mean.low, 4), round(mean.high, 4)],
        "share_of_text": round(_share(found, sights, answerable, drafted), 4),
        "f1_whole_passage": round(
            float(np.mean([_f1_whole(found, sights[at]) for at in answerable])), 4
        ),
    }
    return {**figures, **_shorter(found, sights, by_fold, answerable)}


def _shorter(
    found: AnswerSet,
    sights: Sequence[Sight],
    by_fold: Sequence[Extractor],
    answerable: Sequence[int],
) -> dict[str, float]:
    """F1 of the longest answers that are at most half of the text, by halving what brevity lies between."""
    low, high = 0.0, 1.0
    figures: dict[str, float] = {}
    for _ in range(HALVINGS):
        brevity = (low + high) / 2
        shorter = [replace(one, brevity=brevity) for one in by_fold]
        drafted = {at: shorter[sights[at].fold](sights[at].context) for at in answerable}
        share = _share(found, sights, answerable, drafted)
        if share > HALF:
            low = brevity
            continue
        high = brevity
        f1 = np.mean([_f1(found, sights[at], drafted[at]) for at in answerable])
        figures = {
            "f1_half": round(float(f1), 4),
            "share_half": round(share, 4),
            "brevity_half": brevity,
        }
    return figures


def _f1(found: AnswerSet, sight: Sight, drafted: Drafted) -> float:
    """Of the sentences that are cited for more than half against those that people chose."""
    cited: set[tuple[str, tuple[int, int]]] = set()
    quotes = [one.segment for one in drafted.quotes]
    for entry in {quote.doc_id for quote in quotes}:
        spans = [(one.char_start, one.char_end) for one in quotes if one.doc_id == entry]
        for start, end in found.sentences[entry]:
            inside = sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in spans)
            if inside > 0.5 * (end - start):
                cited.add((entry, (start, end)))
    return _f(cited, sight)


def _f1_whole(found: AnswerSet, sight: Sight) -> float:
    entry = sight.context.passages[0].doc_id if sight.context.passages else ""
    return _f({(entry, span) for span in found.sentences.get(entry, ())}, sight)


def _f(cited: set[tuple[str, tuple[int, int]]], sight: Sight) -> float:
    gold = {(sight.asked.entry_id, span) for span in sight.asked.gold}
    return 2.0 * len(cited & gold) / (len(cited) + len(gold))


def _share(
    found: AnswerSet,
    sights: Sequence[Sight],
    answerable: Sequence[int],
    drafted: "Sequence[Drafted] | dict[int, Drafted]",
) -> float:
    """The mean length of answers, as a share of the passage that was asked about."""
    texts = {entry.entry_id: entry.text for entry in found.entries}
    return float(
        np.mean(
            [
                sum(len(one.segment.text) for one in drafted[at].quotes)
                / len(texts[sights[at].asked.entry_id])
                for at in answerable
            ]
        )
    )


def _inside(
    sights: Sequence[Sight], by_fold: Sequence[Extractor], answerable: Sequence[int]
) -> dict[str, Any]:
    """How often a whole answer is inside one of one, or two, cited sentences, and inside the answer as drafted."""
    figures: dict[str, Any] = {}
    for name, most in (("inside_one", 1), ("inside_two", 2)):
        fixed = [replace(one, most=most, beta=MANY) for one in by_fold]
        hits = [_has(sights[at], fixed[sights[at].fold](sights[at].context)) for at in answerable]
        mean = interval(hits)
        figures[name] = round(mean.mean, 4)
        figures[f"{name}_interval"] = [round(mean.low, 4), round(mean.high, 4)]
    return figures


MANY = 4.0
"""Van Rijsbergen's beta for as many sentences as are allowed."""


def _has(sight: Sight, drafted: Drafted) -> float:
    return float(
        any(
            one.segment.doc_id == sight.asked.entry_id
            and one.segment.char_start <= start
            and end <= one.segment.char_end
            for one in drafted.quotes
            for start, end in sight.asked.gold
        )
    )
