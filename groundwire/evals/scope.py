"""Whether foreign questions are told from genuine ones with no intents configured: Basecamp's policies as the
corpus, our own questions about them, CLINC150's out-of-scope questions."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contracts import Misconfigured
from groundwire import profiles
from groundwire.corpus import PUBLIC, Snapshot, in_memory
from groundwire.corpus.scope import ScopeModel, ScopePart
from groundwire.models import Cached, missing, open_embedder
from groundwire.profiles import Profile
from groundwire.wiring import chunking_of

from .questions import SEED, basecamp, halves

Z = 1.96
WARMUP = 20
LABELS = (PUBLIC,)
GATES = {"default": "minilm", "fast": "wordllama", "words": "none"}
"""The gates by what their vectors are of."""
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Share:
    """`n` of which a share is so, with Wilson's 95 % interval."""

    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Gate:
    """A gate set on `questions`, the calibrating half, or on the `documents` alone, as the product does.

    `kept`: of the reporting half; `refused`: of the foreign questions. `built_s` without cached vectors.
    """

    gate: str
    calibrated_on: str
    threshold: float
    kept: Share
    refused: Share
    built_s: float
    p95_ms: float


def wilson(successes: int, n: int) -> Share:
    """Wilson 1927's interval of a share, for 95 of 100."""
    if n == 0:
        return Share(0.0, 0.0, 1.0, 0)
    share, z2 = successes / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return Share(share, max(0.0, middle - half), min(1.0, middle + half), n)


def foreign_questions(data: Path) -> list[str]:
    """CLINC150's out-of-scope test questions; Misconfigured says what is not there."""
    path = data / "clinc150" / "data_full.json"
    try:
        rows: list[list[str]] = json.loads(path.read_text(encoding="utf-8"))["oos_test"]
    except (OSError, ValueError, KeyError) as error:
        raise Misconfigured(f"{path}: is not CLINC150's data_full.json: {error!r}") from error
    return [text for text, _ in rows]


def measure(data: Path, gates: Sequence[str], tell: Tell) -> list[Gate]:
    """Every gate that can run here, set both ways; the foreign questions have no part in that."""
    if not (data / "basecamp").is_dir():
        raise Misconfigured(f"no policies in {data / 'basecamp'}: fetch basecamp/policies")
    strange, profile = foreign_questions(data), profiles.load("default")
    snapshot, _ = in_memory([data / "basecamp"], chunking_of(profile))
    calibrating, _ = halves(basecamp())
    found = []
    for name in gates:
        if missing(GATES[name]):
            continue
        given = {"questions": tuple(one.question for one in calibrating), "documents": ()}
        with TemporaryDirectory() as folder:
            part = _part(name, profile, Path(folder) / "cache.sqlite")
            for calibrated_on, questions in given.items():
                set_on = replace(part, questions=questions)
                gate = _measure(name, set_on, snapshot, strange, Path(folder) / calibrated_on, tell)
                found.append(replace(gate, calibrated_on=calibrated_on))
    return [replace(gate, built_s=_built_s(found, gate.gate)) for gate in found]


def _built_s(found: Sequence[Gate], name: str) -> float:
    """The time of the first build: a second one finds its vectors."""
    return next(gate.built_s for gate in found if gate.gate == name)


def _part(name: str, profile: Profile, cache: Path) -> ScopePart:
    if GATES[name] == "none":
        return ScopePart(profile.terms.stopwords)
    embedder = Cached(open_embedder(GATES[name]), cache)
    return ScopePart(profile.terms.stopwords, embedder, embedder)


def _measure(
    name: str, part: ScopePart, snapshot: Snapshot, strange: Sequence[str], folder: Path, tell: Tell
) -> Gate:
    begun = time.perf_counter()
    part.build(
        folder, snapshot, None, lambda step: tell(f"{name}: documents", step.done, step.total)
    )
    built_s = time.perf_counter() - begun
    is_near = _asked(name, ScopeModel.open(folder))
    _, reporting = halves(basecamp())
    for one in reporting[:WARMUP]:
        is_near(one.question)
    kept, _ = _near([one.question for one in reporting], is_near)
    near, times = _near(strange, is_near)
    calibrations = ScopeModel.open(folder).calibrations
    return Gate(
        gate=name,
        calibrated_on="",
        threshold=calibrations.get("near", calibrations["words"]).threshold,
        kept=wilson(kept, len(reporting)),
        refused=wilson(len(strange) - near, len(strange)),
        built_s=built_s,
        p95_ms=1_000 * sorted(times)[math.ceil(0.95 * len(times)) - 1],
    )


def _asked(name: str, model: ScopeModel) -> Callable[[str], bool]:
    if GATES[name] == "none":
        return lambda text: model.by_words(text, LABELS).is_enough
    embedder = open_embedder(GATES[name])
    return lambda text: model.by_vector(text, embedder.embed([text])[0], LABELS).is_enough


def _near(texts: Sequence[str], is_near: Callable[[str], bool]) -> tuple[int, list[float]]:
    """How many are near, and the seconds that each took."""
    near, times = 0, []
    for text in texts:
        begun = time.perf_counter()
        near += is_near(text)
        times.append(time.perf_counter() - begun)
    return near, times


def as_json(found: Sequence[Gate]) -> dict[str, Any]:
    """The first gate at the top, all of them below."""
    first = found[0]
    return {
        "kept": first.kept.share,
        "kept_interval": [first.kept.low, first.kept.high],
        "kept_n": first.kept.n,
        "refused": first.refused.share,
        "refused_interval": [first.refused.low, first.refused.high],
        "refused_n": first.refused.n,
        "seed": SEED,
        "gates": [asdict(gate) for gate in found],
    }
