"""How well intents are told apart and foreign questions refused, on sets in CLINC150's layout."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts import Misconfigured
from groundwire.intents.learned import Embedder
from groundwire.intents.questions import Lesson
from groundwire.intents.teaching import taught
from groundwire.intents.terms import Rows
from groundwire.profiles import Profile
from groundwire.wiring.understanding import (
    Read,
    build_read,
    learned_classifier,
    listed_classifier,
)

Floats = NDArray[np.float64]
KEPT = 0.95
BINS = 15
TIMED = 300
WARMUP = 10
SPLITS = ("train", "val", "test", "oos_val", "oos_test")


@dataclass(frozen=True)
class Set:
    """Texts with their labels, by split."""

    splits: dict[str, tuple[tuple[str, str], ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the training split, sorted."""
        return tuple(sorted({label for _, label in self.splits["train"]}))


@dataclass(frozen=True)
class Judged:
    """What a split gave. Scores are margins: at 0 the calibrated threshold."""

    confidence: Floats
    right: NDArray[np.bool_]
    inside: Floats
    outside: Floats
    p95_ms: float


def read(folder: Path, name: str) -> Set:
    """`folder/name.json`, or the only file of the folder `folder/name`; Misconfigured says what is wrong."""
    path = folder / f"{name}.json"
    if not path.is_file():
        beneath = folder / name / "data_full.json"
        found = sorted(folder.rglob(f"{name}.json"))
        path = beneath if beneath.is_file() else found[0] if len(found) == 1 else path
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        splits = {
            split: tuple((str(text), str(label)) for text, label in stored.get(split, []))
            for split in SPLITS
        }
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Misconfigured(f"{path}: is not a set in CLINC150's layout: {error}") from error
    for split in ("train", "test", "oos_test"):
        if not splits[split]:
            raise Misconfigured(f"{path}: has no {split}")
    return Set(splits)


def judge(
    found: Set, split: str, profile: Profile, embedders: Sequence[Embedder], root: Path
) -> Judged:
    """Learn from `train` alone, then judge a split and its foreign questions.

    `embedders`: the profile's, with a cache. A profile of keywords alone lists the most telling words of `train`.
    """
    names, texts = found.names, [text for text, _ in found.splits[split]]
    foreign = [text for text, _ in found.splits[f"oos_{split}"]]
    asked, timed = [*texts, *foreign], [*texts[: TIMED // 2], *foreign[: TIMED // 2]]
    if profile.understand.classifier == "keywords":
        read = build_read(listed_classifier(found.splits["train"], profile), profile)
        shares = asyncio.run(_shares(read, asked))
        margins = shares.max(axis=1)
    else:
        learned = taught(Lesson(names, found.splits["train"], (), KEPT), embedders, root)
        read = build_read(learned_classifier(learned, profile), profile)
        shares, margins = learned.judge(asked, [one.embed(asked) for one in embedders])
    labels = np.array([names.index(label) for _, label in found.splits[split]])
    inside = shares[: len(texts)]
    return Judged(
        confidence=inside.max(axis=1).astype(np.float64),
        right=inside.argmax(axis=1) == labels,
        inside=margins[: len(texts)].astype(np.float64),
        outside=margins[len(texts) :].astype(np.float64),
        p95_ms=asyncio.run(_p95_ms(read, timed)),
    )


async def _shares(read: Read, asked: Sequence[str]) -> Rows:
    found = [list((await read(text)).values()) for text in asked]
    return np.array(found, dtype=np.float32)


async def _p95_ms(read: Read, asked: Sequence[str]) -> float:
    """One question after the other."""
    took = []
    for text in [*asked[:WARMUP], *asked]:
        started = time.perf_counter()
        await read(text)
        took.append(time.perf_counter() - started)
    return float(np.quantile(took[WARMUP:], 0.95) * 1000)


def as_json(judged: Judged) -> dict[str, float]:
    """The five figures."""
    return {
        "accuracy": round(float(judged.right.mean()), 4),
        "auroc": round(auroc(judged.inside, judged.outside), 4),
        "recall_at_95": round(refused_at(KEPT, judged.inside, judged.outside), 4),
        "ece": round(calibration_error(judged.confidence, judged.right), 4),
        "p95_ms": round(judged.p95_ms, 2),
    }


def auroc(inside: Floats, outside: Floats) -> float:
    """The probability that an inside score is above an outside one, ties counting half."""
    both = np.concatenate([inside, outside])
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    above = ranks[: len(inside)].sum() - len(inside) * (len(inside) + 1) / 2
    return float(above / (len(inside) * len(outside)))


def refused_at(kept: float, inside: Floats, outside: Floats) -> float:
    """The share of outside scores below the threshold that keeps this share of the inside ones."""
    return float((outside < np.quantile(inside, 1.0 - kept, method="lower")).mean())


def calibration_error(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> float:
    """The expected calibration error over equal bins of confidence."""
    return float(
        sum(abs(said - was) * share for said, was, share in reliability(confidence, right, bins))
    )


def reliability(
    confidence: Floats, right: NDArray[np.bool_], bins: int = BINS
) -> list[tuple[float, float, float]]:
    """For each bin that has any: the mean confidence, the share that is right, the share of all."""
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return [
        (float(confidence[here].mean()), float(right[here].mean()), float(here.mean()))
        for at in range(bins)
        if (here := place == at).any()
    ]


def coverage(judged: Judged, points: int = 50) -> list[tuple[float, float]]:
    """The share of inside questions kept, and the share of foreign ones answered there."""
    kept = np.linspace(0.5, 1.0, points)
    return [(float(k), 1.0 - refused_at(float(k), judged.inside, judged.outside)) for k in kept]
