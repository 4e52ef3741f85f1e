"""Learns what profile `default` (or another) chooses and refuses answers by, and prints it for the profile's TOML.

    python -m benchmarks.learn_answers --data DIR [--profile NAME] [--words]

Sentences: logistic regression, L2 on standardised features, on CLAP NQ and on SQuAD 2.0, each set counting as much;
its strength is the one that tells most out of fold. The answer: the same on both sets, by out-of-fold sentence
weights. `--words`: for a corpus without vectors. Seeded folds, no other random. The threshold keeps `--keep` of the
answerable questions of CLAP NQ.
"""

import argparse
import asyncio
from pathlib import Path

import numpy as np

from groundwire import profiles
from groundwire.evals import answersets
from groundwire.evals.answers import sights
from groundwire.evals.learning import (
    ANSWER_STRENGTH,
    Lot,
    again,
    answer_table,
    judge_all,
    sentence_table,
)
from groundwire.evals.lessons import FOLDS, Table, learn, strength_of
from groundwire.evals.logistic import apply, probabilities
from groundwire.profiles import Profile
from groundwire.wiring.answering import Extractor, extractor_of

SETS = ("clapnq", "squad2")


def see(profile: Profile, data: Path, cache: Path, extractor: Extractor) -> dict[str, Lot]:
    """Both sets, end to end, with the features of their sentences."""
    seen: dict[str, Lot] = {}
    for name in SETS:
        found = answersets.read(data, name)
        ends, _ = asyncio.run(sights(profile, found, cache, lambda *_: None))
        seen[name] = (ends, judge_all(extractor, ends), bool(found.sentences))
    return seen


def threshold(answers: Table, keep: float) -> float:
    """The evidence that this share of CLAP NQ's answerable questions reaches, out of fold."""
    reached: list[float] = []
    for fold in range(FOLDS):
        weights = learn(answers, ANSWER_STRENGTH, [fold])
        asked = (answers.folds == fold) & (answers.sets == 0) & (answers.wanted > 0.5)
        reached += probabilities(apply(answers.names, answers.rows[asked], weights)).tolist()
    return float(np.quantile(np.array(reached), 1.0 - keep, method="lower"))


def show(name: str, weights: dict[str, float]) -> None:
    """A table of the profile."""
    print(f"[synthesize.{name}]")
    for feature, weight in weights.items():
        if feature != "bias":
            print(f"{feature} = {weight:.4f}")


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".groundwire/cache"))
    parser.add_argument("--profile", default="default")
    parser.add_argument("--sentences", choices=("clapnq", "squad2", "both"), default="both")
    parser.add_argument("--keep", type=float, default=0.95)
    parser.add_argument("--words", action="store_true")
    given = parser.parse_args()
    profile = profiles.load(given.profile)
    if given.words:
        words = {"embedder": "none", "alpha": 1.0, "least_cosine": None}
        profile = profile.model_copy(
            update={
                "retrieve": profile.retrieve.model_copy(update=words),
                "synthesize": profile.synthesize.model_copy(update={"meaning": "none"}),
            }
        )
    extractor = extractor_of(profile)
    seen = see(profile, given.data, given.cache, extractor)
    sets = list(SETS) if given.sentences == "both" else [given.sentences]
    sentences = sentence_table([seen[name] for name in sets])
    strength = strength_of(sentences)
    sentence = learn(sentences, strength)
    by_fold = [learn(sentences, strength, [fold]) for fold in range(FOLDS)]
    answers = answer_table(
        [(ends, again(extractor, ends, by_fold), chosen) for ends, _, chosen in seen.values()]
    )
    answer = learn(answers, ANSWER_STRENGTH)
    table = "words" if given.words else "vectors"
    print(f"# strength of the penalty: {strength}")
    print(f"[synthesize.{table}]")
    print(f"threshold = {threshold(answers, given.keep):.3f}")
    print(f"bias = {sentence['bias']:.4f}\nanswer_bias = {answer['bias']:.4f}\n")
    show(f"{table}.sentence", sentence)
    print()
    show(f"{table}.answer", answer)


if __name__ == "__main__":
    main()
