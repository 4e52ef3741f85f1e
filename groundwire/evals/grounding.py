"""Whether claims that don't quote are told from those that the evidence doesn't bear out: on responses in BEGIN's
layout, and on long passages, with claims made from CLAP NQ by seed."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts import Misconfigured

from . import clapnq
from .collection import Unreadable
from .intents import auroc

SEED = 0
SAMPLES = 1_000
FEWEST_WORDS = 5
COLUMNS = ("model_name", "data_source", "knowledge", "message", "response", "begin_label")
LABELS = {"Fully attributable": True, "Not fully attributable": False}
DROPPED = "Generic"
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_VERB = re.compile(r"\b(is|are|was|were|has|have|can|will|may|must)\b")
_NOT = re.compile(r" not\b")
_END = re.compile(r"(?<=[.!?])\s+")
Judge = Callable[[str, str], float]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """Something said beside its evidence. `kind`: how it came to be."""

    text: str
    evidence: str
    is_supported: bool
    kind: str


@dataclass(frozen=True)
class Claims:
    """A set of claims, and how many rows were left out."""

    name: str
    claims: tuple[Claim, ...]
    dropped: int = 0


@dataclass(frozen=True)
class Grounding:
    """How well a score tells them apart.

    At the threshold: `kept` of what is supported, `refused` of the rest, by kind.
    """

    set: str
    auroc: float
    auroc_interval: tuple[float, float]
    claims: int
    supported: int
    dropped: int
    threshold: float
    kept: float
    refused: dict[str, float]
    seed: int = SEED


def read(path: Path) -> Claims:
    """A file in BEGIN's layout, or CLAP NQ's folder; Misconfigured says what is wrong."""
    try:
        return long_claims(path) if path.is_dir() else read_begin(path)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error


def read_begin(path: Path) -> Claims:
    """The responses of a tab-separated file without quoting, less those that claim nothing."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path}: cannot be read: {error}") from error
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines if line.strip()]
    if not rows or tuple(rows[0]) != COLUMNS:
        raise Misconfigured(f"{path}: the first line must name {', '.join(COLUMNS)}")
    claims: list[Claim] = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS) or row[-1] not in (*LABELS, DROPPED):
            raise Misconfigured(f"{path}: row {number} has other columns, or an unknown label")
        if row[-1] != DROPPED:
            claims.append(Claim(row[4], row[2], LABELS[row[-1]], "response"))
    return Claims(path.stem, tuple(claims), len(rows) - 1 - len(claims))


def long_claims(folder: Path) -> Claims:
    """Sentences that annotators wrote from a passage, and four kinds that the passage doesn't bear out.

    Written from the likest other passage; joined from halves of two sentences that don't follow each other;
    with a number, a name or a negation changed.
    """
    chance = random.Random(SEED)  # noqa: S311 - a construction, not secrecy
    lines = list(clapnq.lines(folder / clapnq.FILES[0]))
    texts = [" ".join(passage["text"] for passage in line["passages"]) for line in lines]
    terms = [set(text.lower().split()) for text in texts]
    written = [_written(line) for line in lines]
    found: list[Claim] = []
    for at, text in enumerate(texts):
        found += [Claim(claim, text, True, "written") for claim in written[at]]
        other = _likest(at, texts, terms)
        found += [Claim(claim, text, False, "of another passage") for claim in written[other]]
        found += [Claim(claim, text, False, "joined") for claim in _joined(lines[at], chance)]
        found += [
            Claim(changed, text, False, f"another {kind}")
            for claim in written[at]
            for kind, changed in altered(claim, texts[other], chance)
        ]
    return Claims("clapnq-long", tuple(found))


def altered(claim: str, other: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """The claim with one number, one name (of another text) or its negation changed, as far as it has any."""
    if numbers := list(_NUMBER.finditer(claim)):
        one = chance.choice(numbers)
        yield "number", _put(claim, one, str(int(one[0]) + chance.randint(1, 9)))
    strangers = sorted({name for name in _NAME.findall(other) if name not in claim})
    if (names := list(_NAME.finditer(claim))) and strangers:
        yield "name", _put(claim, chance.choice(names), chance.choice(strangers))
    if no := _NOT.search(claim):
        yield "negation", _put(claim, no, "")
    elif verb := _VERB.search(claim):
        yield "negation", _put(claim, verb, f"{verb[0]} not")


def _put(text: str, found: re.Match[str], new: str) -> str:
    return text[: found.start()] + new + text[found.end() :]


def _written(line: dict[str, Any]) -> list[str]:
    """The sentences of the first annotator's answer, unless they are too short to claim much."""
    sentences = _END.split(line["output"][0]["answer"].strip())
    return [one for one in sentences if len(one.split()) >= FEWEST_WORDS]


def _likest(at: int, texts: Sequence[str], terms: Sequence[set[str]]) -> int:
    """The passage, of another text, that shares the most terms."""
    return max(
        (other for other in range(len(texts)) if texts[other] != texts[at]),
        key=lambda other: len(terms[at] & terms[other]) / len(terms[at] | terms[other]),
    )


def _joined(line: dict[str, Any], chance: random.Random) -> Iterator[str]:
    """The first half of a sentence with the second of one that doesn't stand beside it."""
    sentences = [one.split() for passage in line["passages"] for one in passage["sentences"]]
    long = [at for at, one in enumerate(sentences) if len(one) >= 2 * FEWEST_WORDS]
    pairs = [(one, two) for one in long for two in long if abs(one - two) > 1]
    if pairs:
        one, two = (sentences[at] for at in chance.choice(pairs))
        yield " ".join(one[: len(one) // 2] + two[len(two) // 2 :])


def measure(found: Claims, judge: Judge, threshold: float) -> Grounding:
    """Score every claim."""
    scores = np.array([judge(claim.text, claim.evidence) for claim in found.claims], np.float64)
    good = np.array([claim.is_supported for claim in found.claims])
    if good.all() or not good.any():
        raise Misconfigured(f"{found.name}: needs claims of both kinds")
    kinds = np.array([claim.kind for claim in found.claims])
    return Grounding(
        set=found.name,
        auroc=auroc(scores[good], scores[~good]),
        auroc_interval=_interval(scores[good], scores[~good]),
        claims=len(good),
        supported=int(good.sum()),
        dropped=found.dropped,
        threshold=threshold,
        kept=float((scores[good] >= threshold).mean()),
        refused={
            str(kind): float((scores[~good & (kinds == kind)] < threshold).mean())
            for kind in dict.fromkeys(kinds[~good])
        },
    )


def _interval(good: Floats, bad: Floats) -> tuple[float, float]:
    """Where 95 of 100 bootstrap samples of the claims put the AUROC."""
    chance = np.random.default_rng(SEED)
    values = [
        auroc(chance.choice(good, len(good)), chance.choice(bad, len(bad))) for _ in range(SAMPLES)
    ]
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))


def as_json(found: Grounding) -> dict[str, Any]:
    """Its figures, rounded."""
    return json.loads(json.dumps(asdict(found)), parse_float=lambda text: round(float(text), 4))  # type: ignore[no-any-return]
