"""Learns the weights of a profile's linear rerank on SciFact's training claims, and prints them.

    python -m benchmarks.learn_rerank --data DIR [--profile FILE.toml]

Pairwise logistic regression: of every claim, each abstract that it cites against each other one of the shortlist,
all pairs of a claim together weighing as much as those of another with as many cited. L2 on standardised
differences, five folds for the score that is printed beside the plain fusion's. No random but the seeded folds.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.ranking import Ranking
from agents.reranking import Features
from agents.retrieve import Search, look_again, shortlist
from groundwire.corpus import FixedCorpus, snapshot_of
from groundwire.evals.collection import Question
from groundwire.evals.metrics import ndcg
from groundwire.evals.retrieval import System, document_of, embedder_of
from groundwire.evals.sets import read_set
from groundwire.wiring.assembly import Assembly, load_profile
from groundwire.wiring.ranking import ranking_of, search_of
from groundwire.wiring.rules import Reader

C = 0.03
"""How little the weights are held back. With 0.1 a collection not learned on was ordered worse than as fused."""
FOLDS = 5
STEPS = 50
NAMES = tuple(Features.__dataclass_fields__)
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """One claim's shortlist: the abstracts in fused order, their features, which are cited."""

    question: Question
    entries: tuple[str, ...]
    rows: Rows

    @property
    def cited(self) -> NDArray[np.bool_]:
        """Which of the shortlist the claim cites."""
        return np.array([entry in self.question.relevant for entry in self.entries], np.bool_)


async def see(questions: Sequence[Question], search: Search, ranking: Ranking) -> list[Seen]:
    """The shortlists of the product's own code."""
    seen = []
    for question in questions:
        found = await search(question.text, ("public",))
        top = shortlist(found, ranking)
        told = look_again(question.text, found, top, ranking)
        entries = tuple(passage.doc_id for passage in top.passages[: ranking.depth])
        rows = np.array([list(asdict(each).values()) for each in told]).reshape(-1, len(NAMES))
        seen.append(Seen(question, entries, rows))
    return seen


def learn(seen: Sequence[Seen]) -> Rows:
    """The weights that put what is cited first."""
    differences, shares = [], []
    for one in seen:
        cited = one.cited
        if cited.any() and not cited.all():
            pairs = (one.rows[cited][:, None] - one.rows[~cited][None]).reshape(-1, len(NAMES))
            differences.append(pairs)
            shares.append(np.full(len(pairs), 2.0 / len(pairs)))
    rows, weigh = np.concatenate(differences), np.concatenate(shares)
    spread = rows.std(axis=0) + 1e-9
    rows = rows / spread
    found = np.zeros(len(NAMES))
    for _ in range(STEPS):  # Newton; the loss is convex
        wrong = 1.0 / (1.0 + np.exp(rows @ found))
        slope = found - C * (rows.T @ (weigh * wrong))
        bend = np.eye(len(NAMES)) + C * (rows.T * (weigh * wrong * (1 - wrong))) @ rows
        found = found - np.linalg.solve(bend, slope)
    return np.asarray(found / spread)


def score(seen: Sequence[Seen], weights: Rows | None) -> float:
    """The mean nDCG@10 of the shortlists in the order of the weights; None: as fused."""
    values = []
    for one in seen:
        scores = np.zeros(len(one.entries)) if weights is None else one.rows @ weights
        order = np.argsort(-scores, kind="stable")
        values.append(ndcg([one.entries[at] for at in order], one.question.relevant))
    return float(np.mean(values))


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--profile", default="default")
    parser.add_argument("--cache", type=Path, default=Path(".groundwire/cache"))
    given = parser.parse_args()
    collection = read_set(given.data, "scifact")
    profile = load_profile(given.profile)
    system = System(profile.name, profile)
    embedder = embedder_of(system, given.cache, lambda *_: None)
    corpus = FixedCorpus(snapshot_of(map(document_of, collection.entries)))
    search = search_of(profile, Reader(Assembly(profile, corpus)), embedder)
    ranking = replace(ranking_of(profile), k=10)
    seen = asyncio.run(see(collection.tuning, search, ranking))
    order = np.random.default_rng(0).permutation(len(seen))
    held = []
    for fold in range(FOLDS):
        test = set(order[fold::FOLDS].tolist())
        weights = learn([one for at, one in enumerate(seen) if at not in test])
        held.append(score([seen[at] for at in sorted(test)], weights))
    print(f"claims {len(seen)}, fused {score(seen, None):.4f}, {FOLDS} folds {np.mean(held):.4f}")
    print("[retrieve.weights]")
    for name, weight in zip(NAMES, learn(seen), strict=True):
        print(f"{name} = {weight:.3f}")


if __name__ == "__main__":
    main()
