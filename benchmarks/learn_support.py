"""Learns the weights of the support score on BEGIN's dev file and prints them for a profile.

    python -m benchmarks.learn_support --data begin_dev_wow.tsv

Logistic regression, L2 on standardised features. Beside the responses: their evidence as a claim of its own, and the
same with a number, a name or a negation changed, by seed, each weighing a twentieth; among the responses hardly any
is wrong by a number alone. Five folds, evidence and what is made of it in one, for the score and the threshold.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.support import Features, features
from groundwire.evals.grounding import Claim, altered, read_begin
from groundwire.evals.intents import auroc

FOLDS = 5
STEPS = 50
MADE = 0.05
"""The weight of what is made, beside 1 for a response: the least that refuses nine in ten changed claims on CLAP NQ."""
REFUSED = 0.95
NAMES = tuple(Features.__dataclass_fields__)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Features of claims, whether they are supported, how much they weigh, whose evidence they are held against."""

    told: Floats
    good: Floats
    weigh: Floats
    of: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "Rows":
        """Some of them."""
        return Rows(self.told[chosen], self.good[chosen], self.weigh[chosen], self.of[chosen])


def rows_of(claims: Sequence[Claim]) -> Rows:
    """The responses, then what is made of each with its evidence."""
    chance = random.Random(0)
    all_of = [(at, claim.text, claim.is_supported, 1.0) for at, claim in enumerate(claims)]
    for at, claim in enumerate(claims):
        other = claims[(at + 1) % len(claims)].evidence
        true = claim.text if claim.is_supported else claim.evidence
        all_of += [(at, text, False, MADE) for _, text in altered(true, other, chance)]
        all_of.append((at, claim.evidence, True, MADE))
    told = [asdict(features(text, [claims[at].evidence])) for at, text, _, _ in all_of]
    return Rows(
        told=np.array([list(each.values()) for each in told], np.float64),
        good=np.array([good for _, _, good, _ in all_of], np.float64),
        weigh=np.array([weigh for _, _, _, weigh in all_of], np.float64),
        of=np.array([at for at, _, _, _ in all_of], np.int64),
    )


def learn(rows: Rows) -> tuple[Floats, float]:
    """The weights and the bias, by Newton; the loss is convex."""
    spread = rows.told.std(axis=0) + 1e-9
    told = np.c_[rows.told / spread, np.ones(len(rows.told))]
    ridge = np.diag([*np.ones(len(spread)), 0.0])
    found = np.zeros(len(spread) + 1)
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + np.exp(-told @ found))
        slope = told.T @ (rows.weigh * (likely - rows.good)) + ridge @ found
        bend = (told.T * (rows.weigh * likely * (1 - likely))) @ told + ridge
        found = found - np.linalg.solve(bend, slope)
    return found[:-1] / spread, float(found[-1])


def held_out(rows: Rows, count: int) -> Floats:
    """The log odds of the responses, each by what the other folds teach."""
    order = np.random.default_rng(0).permutation(count)
    scores = np.zeros(count)
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        weights, bias = learn(rows.where(~np.isin(rows.of, test)))
        scores[test] = rows.told[test] @ weights + bias
    return scores


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    claims = read_begin(parser.parse_args().data).claims
    rows = rows_of(claims)
    scores, good = held_out(rows, len(claims)), np.array([claim.is_supported for claim in claims])
    odds = float(np.quantile(scores[~good], REFUSED))
    weights, bias = learn(rows)
    kept = float((scores[good] >= odds).mean())
    print(f"responses {len(claims)}, {FOLDS} folds: AUROC {auroc(scores[good], scores[~good]):.4f}")
    print(
        f"the threshold refuses {REFUSED:.0%} of what isn't supported and keeps {kept:.1%} of what is"
    )
    print(f"[critic]\nbias = {bias:.3f}\nthreshold = {1.0 / (1.0 + np.exp(-odds)):.3f}\n")
    print("[critic.weights]")
    for name, weight in zip(NAMES, weights, strict=True):
        print(f"{name} = {weight:.3f}")


if __name__ == "__main__":
    main()
