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
from .lessons import FOLDS, Table, Weights, learn, strengths_without

SEED = 7
ANSWER_STRENGTH = 0.1
"""Between 0.01 and 1 the figures differ by less than a fold's noise."""


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


Lot = tuple[Sequence[Sight], Sequence[Judged], bool]
"""A set's sights, what was judged of each, and `is_gold`'s flag."""


def sentence_table(sets: Sequence[Lot]) -> Table:
    """Every sentence for the answerable questions of some sets."""
    rows, wanted, folds_of, sets_of = [], [], [], []
    names: tuple[str, ...] = ()
    for nth, (sights, seen, chosen) in enumerate(sets):
        for sight, one in zip(sights, seen, strict=True):
            if sight.asked.is_answerable and one.rows:
                names = tuple(one.rows[0])
                rows += [list(row.values()) for row in one.rows]
                wanted += [is_gold(sight.asked, at, chosen=chosen) for at in places(one)]
                folds_of += [sight.fold] * len(one.rows)
                sets_of += [nth] * len(one.rows)
    return _table(names, rows, wanted, folds_of, sets_of)


def answer_table(sets: Sequence[Lot]) -> Table:
    """All questions of some sets that have any sentence."""
    rows, wanted, folds_of, sets_of = [], [], [], []
    names: tuple[str, ...] = ()
    for nth, (sights, seen, _) in enumerate(sets):
        for sight, one in zip(sights, seen, strict=True):
            if one.answering:
                names = tuple(one.answering)
                rows.append(list(one.answering.values()))
                wanted.append(sight.asked.is_answerable)
                folds_of.append(sight.fold)
                sets_of.append(nth)
    return _table(names, rows, wanted, folds_of, sets_of)


def _table(
    names: tuple[str, ...],
    rows: Sequence[Sequence[float]],
    wanted: Sequence[bool],
    folds_of: Sequence[int],
    sets_of: Sequence[int],
) -> Table:
    return Table(
        names, np.array(rows), np.array(wanted, float), np.array(folds_of), np.array(sets_of)
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
    sentences = sentence_table([(sights, seen, chosen)])
    strengths = strengths_without(sentences)
    weights = [learn(sentences, strengths[fold], [fold]) for fold in range(FOLDS)]
    answers = answer_table([(sights, again(extractor, sights, weights), chosen)])
    return [Taught(weights[fold], learn(answers, ANSWER_STRENGTH, [fold])) for fold in range(FOLDS)]


def again(
    extractor: Extractor, sights: Sequence[Sight], weights: Sequence[Weights]
) -> list[Judged]:
    """The sights judged by the weights of their folds, which never saw them."""
    by_fold = [taught(extractor, one) for one in weights]
    return [judged(by_fold[sight.fold], sight.context) for sight in sights]
