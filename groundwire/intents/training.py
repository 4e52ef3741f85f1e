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

    `foreign` are questions of another world, by which errors are estimated; nothing is learned from them.
    """
    found = _calibrate(examples, hints, keep)
    near = _near(examples, hints, found)
    model = _model(_joined(examples, hints))
    answered = _passing(model, foreign, found)
    return Learned(examples.names, model, replace(found, near=near, foreign=answered))


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


def _calibrate(examples: Examples, hints: Examples, keep: float) -> Calibration:
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
    found = np.concatenate(logits), np.concatenate(near), np.concatenate(labels)
    measured = _measured(*found, keep)
    mistaken = _mistaken(found[0].argmax(axis=1), found[2], examples.names)
    return replace(measured, confusions=tuple(mistaken))


def _mistaken(taken: Ints, labels: Ints, names: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    wrong = Counter(
        (int(label), int(other))
        for label, other in zip(labels, taken, strict=True)
        if label != other
    )
    for (label, other), times in sorted(wrong.items(), key=lambda one: (-one[1], one[0])):
        yield names[label], names[other], times


def _measured(logits: Rows, near: Rows, labels: Ints, keep: float) -> Calibration:
    top = logits.max(axis=1)
    bare = Calibration(
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
    scores = summed(logits, near, bare)
    threshold = float(np.quantile(scores, 1.0 - keep, method="lower"))
    return replace(bare, threshold=threshold, kept=float((scores >= threshold).mean()))


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
    scores = summed(*model.scores(asked.counts, asked.dense), found)
    return float((scores >= found.threshold).mean())
