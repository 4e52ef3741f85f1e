"""A classifier learned from examples: the share of each label, and how near a question is to what is asked here."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np

from .linear import Ints, Linear, softmax
from .terms import Counts, Rows, Terms, counts_of

FORMAT = 2
NEAREST = 5
TERMS_SCALE = 6.0
SCALES = {"minilm": 8.0, "wordllama": 4.0}
OTHER_SCALE = 8.0


class Embedder(Protocol):
    """Texts into unit vectors."""

    @property
    def model_id(self) -> str:
        """The name, and what decides the numbers."""
        ...

    def embed(self, texts: Sequence[str]) -> Rows:
        """One unit row for each text, in order."""
        ...


@dataclass(frozen=True)
class Calibration:
    """What held-out examples say. Rates are shares; None: not measured, since the examples don't allow it.

    `threshold` is for the sum of the two standardised scores; `near` and `foreign`: how many questions are answered
    by mistake, that belong to a label held out, or to another world.
    """

    temperature: float
    logit_mean: float
    logit_spread: float
    near_mean: float
    near_spread: float
    threshold: float
    keep: float
    held_out: int
    accuracy: float | None
    kept: float | None
    near: float | None = None
    foreign: float | None = None
    confusions: tuple[tuple[str, str, int], ...] = ()
    """The label of held-out examples, the one they were taken for, and how often; most often first."""


@dataclass(frozen=True)
class Features:
    """How texts become rows: what each embedder and the terms contribute, centred on the examples."""

    terms: Terms
    means: tuple[Rows, ...]
    scales: tuple[float, ...]

    @classmethod
    def of(cls, counts: Counts, dense: Sequence[Rows], names: Sequence[str]) -> "Features":
        """Learned from examples: the counts of their terms, and their vectors by embedder."""
        means = tuple(rows.mean(axis=0) for rows in dense)
        kinds = (name.partition(":")[0] for name in names)
        return cls(Terms.of(counts), means, tuple(SCALES.get(kind, OTHER_SCALE) for kind in kinds))

    def rows(self, counts: Counts, dense: Sequence[Rows]) -> Rows:
        """One row for each text."""
        parts = [
            (rows - mean) * np.float32(scale)
            for rows, mean, scale in zip(dense, self.means, self.scales, strict=True)
        ]
        parts.append(self.terms.rows(counts) * np.float32(TERMS_SCALE))
        return np.concatenate(parts, axis=1, dtype=np.float32)


@dataclass(frozen=True)
class Model:
    """The linear model and the examples that it was learned from, as points to be near to."""

    features: Features
    linear: Linear
    points: Rows
    labels: Ints

    def scores(self, counts: Counts, dense: Sequence[Rows]) -> tuple[Rows, Rows]:
        """The logits, and the mean cosine to the nearest examples of the label that they favour."""
        logits = self.linear.logits(self.features.rows(counts, dense))
        favoured = logits.argmax(axis=1)
        places = points_of(self.features, counts, dense)
        near = np.zeros(len(counts), dtype=np.float32)
        for label in np.unique(favoured):
            asked = np.flatnonzero(favoured == label)
            cosines = places[asked] @ self.points[self.labels == label].T
            most = min(NEAREST, cosines.shape[1])
            near[asked] = np.sort(cosines, axis=1)[:, -most:].mean(axis=1)
        return logits, near


def points_of(features: Features, counts: Counts, dense: Sequence[Rows]) -> Rows:
    """Where nearness is measured: the first embedder's vectors; without one, the terms."""
    return dense[0] if dense else features.terms.rows(counts) / np.float32(np.sqrt(2))


@dataclass(frozen=True)
class Learned:
    """A trained classifier, ready to be asked."""

    names: tuple[str, ...]
    model: Model
    calibration: Calibration

    def judge(self, texts: Sequence[str], dense: Sequence[Rows]) -> tuple[Rows, Rows]:
        """The share of each label by text, and how far each is above the threshold."""
        logits, near = self.model.scores(counts_of(texts), dense)
        found = self.calibration
        shares = softmax(logits / np.float32(found.temperature))
        return shares, summed(logits, near, found) - np.float32(found.threshold)

    def nearest(
        self, text: str, dense: Sequence[Rows], label: str, count: int
    ) -> list[tuple[int, float]]:
        """The places of the examples of a label that a text is nearest to, with their cosines."""
        own = np.flatnonzero(self.model.labels == self.names.index(label))
        here = points_of(self.model.features, counts_of([text]), dense)[0]
        cosines = self.model.points[own] @ here
        return [
            (int(own[at]), float(cosines[at])) for at in np.argsort(-cosines, kind="stable")[:count]
        ]


def summed(logits: Rows, near: Rows, found: Calibration) -> Rows:
    """The sum of the two scores, each standardised on held-out examples."""
    top = (logits.max(axis=1) - found.logit_mean) / found.logit_spread
    return np.asarray(top + (near - found.near_mean) / found.near_spread, dtype=np.float32)


def digest_of(parts: Mapping[str, object]) -> str:
    """The name under which a trained classifier is kept: of all that its numbers depend on."""
    text = json.dumps({"format": FORMAT, **parts}, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def save(learned: Learned, path: Path) -> None:
    """Write it into a file that appears whole or not at all; FileNotFoundError if its folder isn't there."""
    model, features = learned.model, learned.model.features
    arrays = {f"mean{at}": mean for at, mean in enumerate(features.means)}
    head = {
        "names": learned.names,
        "scales": features.scales,
        "calibration": asdict(learned.calibration),
    }
    fresh = path.with_name(f"{path.name}.{id(learned):x}.new")
    with fresh.open("wb") as file:
        np.savez(
            file,
            head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
            rarity=features.terms.rarity,
            weights=model.linear.weights,
            bias=model.linear.bias,
            points=model.points,
            labels=model.labels,
            **arrays,  # type: ignore[arg-type]
        )
    fresh.replace(path)


def read(path: Path) -> Learned | None:
    """What `save` wrote; None where there is nothing, or nothing whole."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            head = json.loads(stored["head"].tobytes())
            scales = tuple(head["scales"])
            features = Features(
                Terms(stored["rarity"]),
                tuple(stored[f"mean{at}"] for at in range(len(scales))),
                scales,
            )
            linear = Linear(stored["weights"], stored["bias"])
            model = Model(features, linear, stored["points"], stored["labels"])
            found = head["calibration"]
            found["confusions"] = tuple((one, two, n) for one, two, n in found["confusions"])
            return Learned(tuple(head["names"]), model, Calibration(**found))
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError):
        return None
