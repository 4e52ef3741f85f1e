"""What the extractive synthesizer goes by, learned from questions that people answered by choosing spans.

First the weights of sentences, then, with what those say of questions they weren't learned from, those of whether
there is an answer at all. Folds are seeded; a question never meets weights that were learned with its fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contracts import RetrievedContext
from groundwire.wiring.answering import Extractor, Judged, judged, taught

from .answersets import Answerable, AnswerSet
from .logistic import Lesson, Rows, fit

FOLDS = 5
SEED = 7
SENTENCE_STRENGTH, ANSWER_STRENGTH = 0.03, 0.1
"""Chosen on neither set's reported figures alone: between 0.01 and 1 they differ by less than a fold's noise."""
Weights = dict[str, float]


@dataclass(frozen=True)
class Sight:
    """A question with one context of it, and its place among the folds."""

    asked: Answerable
    context: RetrievedContext
    fold: int


@dataclass(frozen=True)
class Taught:
    """The weights of sentences and of the answer."""

    sentence: Weights
    answer: Weights


def folds(found: AnswerSet, seed: int = SEED) -> dict[str, int]:
    """The number of each fold by its name: seeded, and as even as their names allow."""
    names = sorted({question.fold for question in found.questions})
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[place]: at % FOLDS for at, place in enumerate(order)}


def is_gold(asked: Answerable, sentence: tuple[str, int, int], *, chosen: bool) -> bool:
    """Whether a sentence answers: mostly inside what people chose as sentences, else with a whole answer inside."""
    entry, start, end = sentence
    if entry != asked.entry_id:
        return False
    if chosen:
        inside = sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in asked.gold)
        return inside > 0.5 * (end - start)
    return any(start <= begin and stop <= end for begin, stop in asked.gold)


def places(one: Judged) -> list[tuple[str, int, int]]:
    """The entry and the characters of each sentence."""
    return [(each.passage.doc_id, each.char_start, each.char_end) for each in one.sentences]


def learn_sentences(
    sets: Sequence[tuple[Sequence[Sight], Sequence[Judged], bool]],
    strength: float = SENTENCE_STRENGTH,
) -> Weights:
    """The weights by the answerable questions of some sets, each set counting as much. The flag is `is_gold`'s."""
    rows: list[Rows] = []
    wanted: list[float] = []
    counts: list[Rows] = []
    names: tuple[str, ...] = ()
    for sights, seen, chosen in sets:
        before = len(wanted)
        for sight, one in zip(sights, seen, strict=True):
            if sight.asked.is_answerable and one.rows:
                names = tuple(one.rows[0])
                rows.append(np.array([list(row.values()) for row in one.rows]))
                wanted += [float(is_gold(sight.asked, at, chosen=chosen)) for at in places(one)]
        size = len(wanted) - before
        counts.append(np.full(size, 1.0 / max(size, 1)))
    return fit(_lesson(names, rows, wanted, counts), strength)


def learn_answers(
    sets: Sequence[tuple[Sequence[Sight], Sequence[Judged]]], strength: float = ANSWER_STRENGTH
) -> Weights:
    """The weights by all questions of some sets that have any sentence, each set counting as much."""
    rows: list[Rows] = []
    wanted: list[float] = []
    counts: list[Rows] = []
    names: tuple[str, ...] = ()
    for sights, seen in sets:
        before = len(wanted)
        for sight, one in zip(sights, seen, strict=True):
            if one.answering:
                names = tuple(one.answering)
                rows.append(np.array([list(one.answering.values())]))
                wanted.append(float(sight.asked.is_answerable))
        size = len(wanted) - before
        counts.append(np.full(size, 1.0 / max(size, 1)))
    return fit(_lesson(names, rows, wanted, counts), strength)


def _lesson(
    names: tuple[str, ...], rows: Sequence[Rows], wanted: Sequence[float], counts: Sequence[Rows]
) -> Lesson:
    weights = np.concatenate(counts)
    return Lesson(
        names, np.concatenate(rows), np.array(wanted), weights * (len(weights) / weights.sum())
    )


def judge_all(
    extractor: Extractor, sights: Sequence[Sight], tell: Callable[[int], None] = lambda done: None
) -> list[Judged]:
    """Every sight judged by an extractor."""
    seen = []
    for done, sight in enumerate(sights, 1):
        seen.append(judged(extractor, sight.context))
        tell(done)
    return seen


def cross_validated(
    extractor: Extractor, sights: Sequence[Sight], seen: Sequence[Judged], *, chosen: bool
) -> list[Taught]:
    """For each fold the weights learned from all others. `seen`: the sights judged by any weights."""
    sentence = [learn_sentences([(*_without(fold, sights, seen), chosen)]) for fold in range(FOLDS)]
    by_fold = [taught(extractor, weights) for weights in sentence]
    again = [judged(by_fold[sight.fold], sight.context) for sight in sights]
    return [
        Taught(sentence[fold], learn_answers([_without(fold, sights, again)]))
        for fold in range(FOLDS)
    ]


def _without(
    fold: int, sights: Sequence[Sight], seen: Sequence[Judged]
) -> tuple[list[Sight], list[Judged]]:
    kept = [at for at, sight in enumerate(sights) if sight.fold != fold]
    return [sights[at] for at in kept], [seen[at] for at in kept]
