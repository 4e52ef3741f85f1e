"""How well passages are found: the product's retrieve agent on a collection, each entry one passage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire import profiles
from groundwire.corpus import Document, Passage
from groundwire.models import Cached, missing, open_embedder
from groundwire.profiles import Profile
from groundwire.wiring import Retriever, build_retriever

from .collection import Collection, Entry, Question
from .metrics import Interval, hit, interval, ndcg, recall, reciprocal_rank

if TYPE_CHECKING:
    from groundwire.models import Embedder

DEPTH = 100
MEASURES: dict[str, Callable[[Sequence[str], "dict[str, int]"], float]] = {
    "ndcg@10": ndcg,
    "recall@100": recall,
    "mrr@10": reciprocal_rank,
    "hit@1": hit,
}
TRAINED_ON = (
    "MiniLM was trained on pairs from S2ORC, Natural Questions and SQuAD among others, "
    "which flatters it on scifact, clapnq and squad2."
)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Measured:
    """A system's measures over `n` questions, in the order of MEASURES. `values`: of each question."""

    system: str
    n: int
    measures: dict[str, Interval]
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class System:
    """A profile under the name that the report gives it. `titled`: its texts begin with their titles."""

    name: str
    profile: Profile
    titled: bool = False


def systems(names: Sequence[str]) -> list[System]:
    """The profiles, each with its fusion alone where it ranks again, and beside them the course and plain BM25."""
    chosen = [one for name in names for one in _with_fusion(System(name, profiles.load(name)))]
    course, words = profiles.load("reference"), profiles.load("default")
    bm25 = words.retrieve.model_copy(
        update={"embedder": "none", "alpha": 1.0, "rerank": "none", "least_cosine": None}
    )
    return [
        *chosen,
        System("course", course, titled=True),
        System("bm25", words.model_copy(update={"retrieve": bm25})),
    ]


def _with_fusion(known: System) -> list[System]:
    retrieve = known.profile.retrieve
    if retrieve.rerank == "none":
        return [known]
    fused = retrieve.model_copy(update={"rerank": "none"})
    alone = known.profile.model_copy(update={"retrieve": fused})
    return [known, System(_fused(known.name), alone)]


def _fused(name: str) -> str:
    return f"{name}, as fused"


async def measure(
    system: System, collection: Collection, *, cache: Path, progress: Progress
) -> Measured:
    """Ask every question, keep the first 100, and measure the order."""
    retriever = build_retriever(
        keeping(system.profile, DEPTH),
        (document_of(entry, titled=system.titled) for entry in collection.entries),
        embedder=embedder_of(system, cache, progress),
    )
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for done, question in enumerate(collection.questions):
        ranked = await _ranked(retriever, question)
        for name, value in MEASURES.items():
            values[name].append(value(ranked, dict(question.relevant)))
        progress(f"{system.name}: questions", done + 1, len(collection.questions))
    means = {name: interval(found) for name, found in values.items()}
    return Measured(system.name, len(collection.questions), means, values)


def gains(measured: Sequence[Measured]) -> dict[str, dict[str, Interval]]:
    """By how much each system that ranks again is ahead of its fusion alone, question by question."""
    known = {one.system: one for one in measured}
    return {
        name: {
            measure: interval([a - b for a, b in zip(each, fused.values[measure], strict=True)])
            for measure, each in one.values.items()
        }
        for name, one in known.items()
        if (fused := known.get(_fused(name))) is not None
    }


async def _ranked(retriever: Retriever, question: Question) -> list[str]:
    return [passage.doc_id for passage in (await retriever(question.text)).passages]


def keeping(profile: Profile, k: int) -> Profile:
    """The same order, cut elsewhere."""
    return profile.model_copy(update={"retrieve": profile.retrieve.model_copy(update={"k": k})})


def embedder_of(system: System, cache: Path, progress: Progress) -> "Embedder | None":
    """The profile's embedder behind the cache; None where it has none."""
    name = system.profile.retrieve.embedder
    if name in ("none", "hashing"):
        return None
    told = f"{system.name}: embedding"
    return Cached(
        open_embedder(name),
        cache / "vectors.sqlite",
        progress=lambda done, total: progress(told, done, total),
    )


def lacking(system: System) -> tuple[str, ...]:
    """The packages that a system needs and that aren't here."""
    return missing(system.profile.retrieve.embedder)


def document_of(entry: Entry, *, titled: bool = False) -> Document:
    """An entry as a document of one passage."""
    text = f"{entry.title}\n{entry.text}".strip() if titled else entry.text or entry.title
    passage = Passage(entry.entry_id, 0, len(text))
    return Document(entry.entry_id, entry.title or " ", "bench", text, passages=(passage,))


def as_json(collection: Collection, measured: Sequence[Measured]) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "set": collection.name,
        "systems": {
            one.system: {name: round(found.mean, 4) for name, found in one.measures.items()}
            | {"n": one.n}
            | {"intervals": _rounded(one.measures)}
            for one in measured
        },
        "ahead_of_fusion": {
            name: {of: [round(found.mean, 4), *_rounded(ahead)[of]] for of, found in ahead.items()}
            for name, ahead in gains(measured).items()
        },
        "skipped": [f"{one.what}: {one.reason}" for one in collection.skipped],
        "note": TRAINED_ON,
    }


def _rounded(measures: Mapping[str, Interval]) -> dict[str, list[float]]:
    return {name: [round(found.low, 4), round(found.high, 4)] for name, found in measures.items()}
