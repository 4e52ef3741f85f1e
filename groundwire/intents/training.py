"""Learning from examples: the model on all of them, its calibration on examples that it hasn't seen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .learned import Calibration, Embedder, Features, Learned, Model, points_of, summed
from .linear import Ints, fit
from .terms import Counts, Rows, counts_of

FOLDS = 5
MOST_FOR_FOLDS = 2_000
"""Examples above which one fold of the five is held out, not each in turn."""
FAR = 0.9
"""The share of the shipped foreign questions that mark where another world begins."""
SEED = 20_240_601
TEMPERATURES = np.geomspace(0.05, 20.0, 241)


@dataclass(frozen=True)
class Examples:
    """The counts of the terms of texts, the number of the label of each, and their vectors by embedder."""

    counts: Counts
    labels: Ints
    dense: tuple[Rows, ...]
    kinds: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, pairs: Sequence[tuple[str, str]], names: Sequence[str], embedders: Sequence[Embedder]
    ) -> "Examples":
        """Of texts with their labels, each label one of the names."""
        place = {name: at for at, name in enumerate(names)}
        texts = tuple(text for text, _ in pairs)
        return cls(
            counts_of(texts),
            np.array([place[label] for _, label in pairs], dtype=np.int64),
            tuple(embedder.embed(texts) for embedder in embedders),
            tuple(embedder.model_id for embedder in embedders),
            tuple(names),
        )

    def only(self, places: Ints) -> "Examples":
        """Some of them."""
        return replace(
            self,
            counts=self.counts[places],
            labels=self.labels[places],
            dense=tuple(rows[places] for rows in self.dense),
        )


def train(examples: Examples, hints: Examples, *, keep: float, foreign: Examples) -> Learned:
    """The classifier of these examples. `hints` are learned from too, but never held out: they are keywords.

    `foreign` are questions of another world: the model isn't learned from them, but the threshold looks at them.
    """
    held, model = _held_out(examples, hints), _model(_joined(examples, hints))
    found = _measured(held, keep)
    scores = held.scores(found)
    enough = threshold(scores, keep, _scores(model, foreign, found))
    found = replace(found, threshold=enough, kept=float((scores >= enough).mean()))
    near, answered = _near(examples, hints, found), _passing(model, foreign, found)
    mistaken = tuple(_mistaken(held.logits.argmax(axis=1), held.labels, examples.names))
    calibration = replace(found, near=near, foreign=answered, confusions=mistaken)
    return Learned(examples.names, model, calibration)


@dataclass(frozen=True)
class Held:
    """What models say of examples that they haven't seen."""

    logits: Rows
    near: Rows
    labels: Ints

    def scores(self, found: Calibration) -> Rows:
        """The sums of the two scores."""
        return summed(self.logits, self.near, found)


def threshold(held: Rows, keep: float, foreign: Rows) -> float:
    """The score that the chosen share of held-out examples reach, or less where foreign questions are far below.

    A few examples are nearer to one another than what people ask: then it lies half way to the foreign ones.
    """
    enough = float(np.quantile(held, 1.0 - keep, method="lower"))
    if not len(foreign):
        return enough
    far = float(np.quantile(foreign, FAR, method="higher"))
    return min(enough, (enough + far) / 2)


def _model(seen: Examples) -> Model:
    features = Features.of(seen.counts, seen.dense, seen.kinds)
    linear = fit(features.rows(seen.counts, seen.dense), seen.labels, len(seen.names))
    return Model(features, linear, points_of(features, seen.counts, seen.dense), seen.labels)


def _joined(one: Examples, two: Examples) -> Examples:
    if not len(two.counts):
        return one
    dense = zip(one.dense, two.dense, strict=True)
    return replace(
        one,
        counts=np.concatenate([one.counts, two.counts]),
        labels=np.concatenate([one.labels, two.labels]),
        dense=tuple(np.concatenate(pair) for pair in dense),
    )


def _held_out(examples: Examples, hints: Examples) -> Held:
    held = list(_folds(examples.labels))
    if not held:  # a single example of each label: nothing can be held out
        held = [np.arange(len(examples.counts))]
    logits, near, labels = [], [], []
    for out in held:
        rest = np.setdiff1d(np.arange(len(examples.counts)), out)
        model = _model(_joined(examples.only(rest if len(rest) else out), hints))
        unseen = examples.only(out)
        seen = model.scores(unseen.counts, unseen.dense)
        logits.append(seen[0])
        near.append(seen[1])
        labels.append(unseen.labels)
    return Held(np.concatenate(logits), np.concatenate(near), np.concatenate(labels))


def _mistaken(taken: Ints, labels: Ints, names: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    wrong = Counter(
        (int(label), int(other))
        for label, other in zip(labels, taken, strict=True)
        if label != other
    )
    for (label, other), times in sorted(wrong.items(), key=lambda one: (-one[1], one[0])):
        yield names[label], names[other], times


def _measured(held: Held, keep: float) -> Calibration:
    """All of a calibration but its threshold."""
    logits, near, labels = held.logits, held.near, held.labels
    top = logits.max(axis=1)
    return Calibration(
        temperature=_temperature(logits, labels),
        logit_mean=float(top.mean()),
        logit_spread=max(float(top.std()), 1e-6),
        near_mean=float(near.mean()),
        near_spread=max(float(near.std()), 1e-6),
        threshold=0.0,
        keep=keep,
        held_out=len(labels),
        accuracy=float((logits.argmax(axis=1) == labels).mean()),
        kept=None,
    )


def _temperature(logits: Rows, labels: Ints) -> float:
    """The one that makes the held-out labels most likely, of a grid.

    Targets are smoothed as Platt does (1999, section 2.2): a few examples that are all right don't make one sure.
    """
    places = np.arange(len(labels))
    sure = (len(labels) + 1.0) / (len(labels) + 2.0)

    def surprise(temperature: float) -> float:
        scaled = logits.astype(np.float64) / temperature
        scaled -= scaled.max(axis=1, keepdims=True)
        total = np.log(np.exp(scaled).sum(axis=1))
        right = total - scaled[places, labels]
        anything = total - scaled.mean(axis=1)
        return float((sure * right + (1.0 - sure) * anything).mean())

    return float(min(TEMPERATURES, key=surprise))


def _folds(labels: Ints) -> Iterator[Ints]:
    """Places to hold out together: of each label with two examples or more, a fifth in each fold."""
    fold = np.full(len(labels), -1)
    random = np.random.default_rng(SEED)
    for label in np.unique(labels):
        places = random.permutation(np.flatnonzero(labels == label))
        if len(places) > 1:
            fold[places] = (np.arange(len(places)) + label) % FOLDS
    folds = 1 if len(labels) > MOST_FOR_FOLDS else FOLDS
    for number in range(folds):
        out = np.flatnonzero(fold == number)
        if len(out):
            yield out


def _near(examples: Examples, hints: Examples, found: Calibration) -> float | None:
    """How many examples would be answered if their label didn't exist: None with fewer than three labels."""
    present = np.unique(examples.labels)
    if len(present) < 3:
        return None
    groups = [present[at::FOLDS] for at in range(min(FOLDS, len(present)))]
    answered: list[float] = []
    for group in groups[:1] if len(examples.counts) > MOST_FOR_FOLDS else groups:
        out = np.isin(examples.labels, group)
        known = examples.only(np.flatnonzero(~out))
        told = hints.only(np.flatnonzero(~np.isin(hints.labels, group)))
        unknown = examples.only(np.flatnonzero(out))
        rate = _passing(_model(_joined(known, told)), unknown, found)
        answered += [rate or 0.0] * len(unknown.counts)
    return float(np.mean(answered))


def _passing(model: Model, asked: Examples, found: Calibration) -> float | None:
    if not len(asked.counts):
        return None
    return float((_scores(model, asked, found) >= found.threshold).mean())


def _scores(model: Model, asked: Examples, found: Calibration) -> Rows:
    return summed(*model.scores(asked.counts, asked.dense), found)
