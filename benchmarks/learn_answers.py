"""Learns what profile `default` (or another) chooses and refuses answers by, and prints it for the profile's TOML.

    python -m benchmarks.learn_answers --data DIR [--profile NAME] [--words]

Sentences: logistic regression, L2 on standardised features, on CLAP NQ and on SQuAD 2.0, each set counting as
`--share` says. The answer: the same on both sets, by out-of-fold sentence weights. `--words`: for a corpus without
vectors. Seeded folds, no other random. The threshold keeps `--keep` of the answerable questions of CLAP NQ.
"""

import argparse
import asyncio
from pathlib import Path

import numpy as np

from groundwire import profiles
from groundwire.evals import answersets
from groundwire.evals.answers import sights
from groundwire.evals.learning import FOLDS, Sight, judge_all, learn_answers, learn_sentences
from groundwire.profiles import Profile
from groundwire.wiring.answering import Extractor, Judged, build_extractor, judged, taught

SETS = ("clapnq", "squad2")
Seen = tuple[list[Sight], list[Judged], bool]


def see(profile: Profile, data: Path, cache: Path, extractor: Extractor) -> dict[str, Seen]:
    """Both sets, end to end, with the features of their sentences."""
    seen = {}
    for name in SETS:
        found = answersets.read(data, name)
        ends, _ = asyncio.run(sights(profile, found, cache, lambda *_: None))
        seen[name] = (ends, judge_all(extractor, ends), bool(found.sentences))
    return seen


def again(
    extractor: Extractor, seen: dict[str, Seen], sets: list[str]
) -> list[tuple[list[Sight], list[Judged]]]:
    """Both sets judged by sentence weights that never saw the question's fold."""
    by_fold = [
        taught(extractor, learn_sentences([_without(fold, seen[name]) for name in sets]))
        for fold in range(FOLDS)
    ]
    return [
        (ends, [judged(by_fold[sight.fold], sight.context) for sight in ends])
        for ends, _, _ in seen.values()
    ]


def _without(fold: int, seen: Seen) -> Seen:
    kept = [at for at, sight in enumerate(seen[0]) if sight.fold != fold]
    return [seen[0][at] for at in kept], [seen[1][at] for at in kept], seen[2]


def threshold(
    extractor: Extractor, sets: list[tuple[list[Sight], list[Judged]]], keep: float
) -> float:
    """The evidence that this share of CLAP NQ's answerable questions reaches, out of fold."""
    ends, rows = sets[0]
    evidence = np.zeros(len(ends))
    for fold in range(FOLDS):
        kept = [[at for at, one in enumerate(each[0]) if one.fold != fold] for each in sets]
        weights = learn_answers(
            [
                ([each[0][at] for at in ats], [each[1][at] for at in ats])
                for each, ats in zip(sets, kept, strict=True)
            ]
        )
        for at, one in enumerate(ends):
            if one.fold == fold:
                odds = (
                    sum(weights[name] * value for name, value in rows[at].answering.items())
                    + weights["bias"]
                )
                evidence[at] = 1.0 / (1.0 + np.exp(-odds))
    answerable = np.array([one.asked.is_answerable for one in ends])
    return float(np.quantile(evidence[answerable], 1.0 - keep, method="lower"))


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
        profile = profile.model_copy(update={"retrieve": profile.retrieve.model_copy(update=words)})
    extractor = build_extractor(profile)
    seen = see(profile, given.data, given.cache, extractor)
    sets = list(SETS) if given.sentences == "both" else [given.sentences]
    sentence = learn_sentences([seen[name] for name in sets])
    judged_again = again(extractor, seen, sets)
    answer = learn_answers(judged_again)
    table = "words" if given.words else "vectors"
    print(f"[synthesize.{table}]")
    print(f"threshold = {threshold(extractor, judged_again, given.keep):.3f}")
    print(f"bias = {sentence['bias']:.4f}\nanswer_bias = {answer['bias']:.4f}\n")
    show(f"{table}.sentence", sentence)
    print()
    show(f"{table}.answer", answer)


if __name__ == "__main__":
    main()
