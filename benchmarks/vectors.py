"""What eight bits and graphs cost vectors of real texts: order and scores beside 32-bit floats, and recall beside all.

    python -m benchmarks.vectors --data DIR --cache DIR

For each set: vectors alone and profile `default`, with cosines of the store and of floats. Then a graph over every
vector that the cache holds of the profile's model, but for those of the sets' questions, which it is asked for.
"""

import argparse
import asyncio
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from agents.ranking import Ranking
from agents.retrieve import Found, Search, ordered
from groundwire import profiles
from groundwire.corpus import FixedCorpus, snapshot_of
from groundwire.corpus.embedded import embedded_text
from groundwire.corpus.vectors import VectorIndex, VectorRow, build
from groundwire.corpus.vectors.quantized import quantized
from groundwire.evals.collection import Collection, Question
from groundwire.evals.metrics import hit, ndcg
from groundwire.evals.retrieval import System, document_of, embedder_of
from groundwire.evals.sets import read_set
from groundwire.wiring.assembly import Assembly
from groundwire.wiring.ranking import ranking_of, search_of
from groundwire.wiring.retrieval import asking
from groundwire.wiring.rules import Reader

SETS = {"scifact": ndcg, "cranfield": ndcg, "clapnq": hit, "squad2": hit}
ASKED = 1_000
NEAREST = 10
LABELS = ("public",)
Rows = NDArray[np.float32]
Value = Callable[[Sequence[str], "dict[str, int]"], float]


def alone(rows: Rows, asked: Rows) -> NDArray[np.intp]:
    """The ten nearest rows to each question."""
    return np.argsort(-(asked @ rows.T), axis=1, kind="stable")[:, :NEAREST]


def units(rows: Rows) -> Rows:
    """What the store makes of rows, at length one."""
    whole = quantized(rows).astype(np.float32)
    return np.asarray(whole / np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-9))


def in_floats(found: Found, asked: Rows, rows: dict[str, Rows]) -> Found:
    """The same candidates with the cosines of floats."""
    names = [found.passage(at).doc_id for at in range(len(found.keyword_scores))]
    stored = np.array([rows[name] for name in names]).reshape(-1, len(asked))

    def alike(positions: Sequence[int]) -> list[float]:
        mean = stored[list(positions)].mean(axis=0)
        return [float(one) for one in stored @ mean / np.linalg.norm(mean)]

    return replace(found, vector_scores=(stored @ asked).tolist(), alike=alike)


async def both(
    search: Search, ranking: Ranking, question: Question, asked: Rows, rows: dict[str, Rows]
) -> tuple[list[str], list[str]]:
    """The order of profile `default` with the store's cosines, and with those of floats."""
    found = await search(question.text, LABELS)
    intent = asking(question.text)
    orders = (ordered(intent, one, ranking) for one in (found, in_floats(found, asked, rows)))
    first, second = ([one.doc_id for one in order.passages] for order in orders)
    return first, second


def of_set(collection: Collection, value: Value, cache: Path) -> str:
    """One line of the table."""
    profile = profiles.load("default")
    embedder = embedder_of(System("default", profile), cache, lambda *_: None)
    assert embedder is not None
    documents = [document_of(entry) for entry in collection.entries]
    rows = embedder.embed([embedded_text(one, one.passages[0]) for one in documents])
    asked = embedder.embed([question.text for question in collection.questions])
    exact, stored = alone(rows, asked), alone(units(rows), units(asked))
    agreed = [len({*a} & {*b}) / NEAREST for a, b in zip(exact, stored, strict=True)]
    names = [one.doc_id for one in documents]
    corpus = FixedCorpus(snapshot_of(documents))
    search = search_of(profile, Reader(Assembly(profile, corpus)), embedder)
    ranking = replace(ranking_of(profile), k=NEAREST)
    known = dict(zip(names, rows, strict=True))

    async def orders() -> list[tuple[list[str], list[str]]]:
        pairs = zip(collection.questions, asked, strict=True)
        return [await both(search, ranking, one, row, known) for one, row in pairs]

    ordered_both = asyncio.run(orders())
    kept = [len({*a} & {*b}) / max(len(b), 1) for a, b in ordered_both]
    grades = [dict(question.relevant) for question in collection.questions]

    def mean(ranked: Sequence[Sequence[str]]) -> float:
        return float(np.mean([value(one, of) for one, of in zip(ranked, grades, strict=True)]))

    told = [
        *(mean([[names[at] for at in row] for row in found]) for found in (exact, stored)),
        float(np.mean(agreed)),
        *(mean([pair[which] for pair in ordered_both]) for which in (1, 0)),
        float(np.mean(kept)),
    ]
    return f"| {collection.name} | {' | '.join(f'{one:.4f}' for one in told)} |"


def cached(cache: Path, model: str, but: set[bytes]) -> Rows:
    """Every vector of a model in a cache, by digest, but for some."""
    with closing(sqlite3.connect(cache / "vectors.sqlite")) as database:
        found = database.execute(
            "SELECT digest, vector FROM vectors WHERE model = ? ORDER BY digest", (model,)
        )
        return np.stack([np.frombuffer(row, "<f4") for digest, row in found if digest not in but])


def of_graph(rows: Rows, asked: Rows) -> Iterator[str]:
    """Built twice, and asked beside all vectors."""
    stored = [VectorRow(at, row, LABELS) for at, row in enumerate(rows)]
    with TemporaryDirectory() as folder:
        one, two, whole = (Path(folder) / name for name in ("one", "two", "whole"))
        start = time.perf_counter()
        built = build(one, stored, rows.shape[1], exact_up_to=1)
        seconds = time.perf_counter() - start
        build(two, stored, rows.shape[1], exact_up_to=1)
        same = all((two / path.name).read_bytes() == path.read_bytes() for path in one.iterdir())
        build(whole, stored, rows.shape[1])
        by_graph, exact = VectorIndex.open(one), VectorIndex.open(whole)
        found, missed = [], 0
        times: dict[str, list[float]] = {"graph": [], "all": []}
        for row in asked:
            near = {}
            for name, index in (("graph", by_graph), ("all", exact)):
                start = time.perf_counter()
                hits = index.search(row, LABELS, NEAREST)
                times[name].append(1_000 * (time.perf_counter() - start))
                near[name] = {each.ordinal for each in hits}
            found.append(len(near["graph"] & near["all"]) / len(near["all"]))
            missed += near["graph"] != near["all"]
        yield f"{len(rows):,} vectors: built in {seconds:.0f} s, twice the same: {same}"
        yield f"recall of its own sample: {built.recalls[0]:.4f}"
        yield f"recall@{NEAREST} of {len(asked):,} questions: {np.mean(found):.4f}, {missed} differ"
        for name, each in times.items():
            p50, p95 = np.percentile(each, [50, 95])
            yield f"{name}: p50 {p50:.2f} ms, p95 {p95:.2f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".groundwire/cache"))
    given = parser.parse_args()
    collections = [read_set(given.data, name) for name in SETS]
    print("| set | floats alone | 8 bits alone | same of 10 | floats | 8 bits | same of 10 |")
    for collection in collections:
        print(of_set(collection, SETS[collection.name], given.cache), flush=True)
    texts = [one.text for each in collections for one in (*each.questions, *each.tuning)]
    embedder = embedder_of(
        System("default", profiles.load("default")), given.cache, lambda *_: None
    )
    assert embedder is not None
    known = {hashlib.sha256(text.encode()).digest() for text in texts}
    drawn = np.random.default_rng(0).choice(sorted(set(texts)), ASKED, replace=False)
    asked = embedder.embed([str(text) for text in drawn])
    for line in of_graph(cached(given.cache, embedder.model_id, known), asked):
        print(line, flush=True)


if __name__ == "__main__":
    main()
