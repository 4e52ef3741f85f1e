"""How much speaks for each sentence to be part of the answer, and for all of them to answer: features. Pure.

Each name is that of a weight. Weights are learned: `python -m benchmarks.learn_answers`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from contracts import RetrievedPassage

from .echoes import Wording, echoes, wording
from .likeness import Compare, Likeness
from .meaning import Mean, Row, meaning_features
from .naming import named_in, told
from .sentences import Sentence
from .tokens import Analyzer, stem, words
from .wants import Has, Wants, had, negates, wanted

Features = dict[str, float]


@dataclass(frozen=True)
class Asked:
    """A question, read once."""

    text: str
    terms: tuple[str, ...]
    stems: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    wants: Wants
    wording: Wording


def asked(question: str, analyze: Analyzer) -> Asked:
    """Read a question."""
    terms = tuple(dict.fromkeys(word for word in words(question) if word not in analyze.stopwords))
    stems = tuple(map(stem, terms))
    return Asked(
        text=question,
        terms=terms,
        stems=stems,
        pairs=frozenset(pairwise(analyze(question))),
        wants=wanted(question),
        wording=wording(question, terms, stems),
    )


@dataclass(frozen=True)
class Seen:
    """Sentences with what was compared. Invariant: `likeness` has a row for each of `sentences`.

    `meant`: one for each of them too, or none at all.
    """

    asked: Asked
    sentences: Sequence[Sentence]
    likeness: Likeness
    meant: Row = ()

    @property
    def groups(self) -> list[list[int]]:
        """The places of each passage's sentences."""
        places = range(len(self.sentences))
        return [list(one) for _, one in groupby(places, lambda at: self.sentences[at].rank)]


def seen(
    question: Asked, sentences: Sequence[Sentence], compare: Compare, mean: Mean | None = None
) -> Seen:
    """Compare sentences with a question."""
    texts = [sentence.text for sentence in sentences]
    likeness = compare(question.text, question.terms, texts)
    return Seen(question, sentences, likeness, mean(question.text, texts) if mean else ())


def sentence_features(
    one: Seen, passages: Sequence[RetrievedPassage], analyze: Analyzer
) -> list[Features]:
    """The features of each sentence: its own, beside the others of its passage, its passage's, beside all others."""
    if not one.sentences:
        return []
    rows: list[Features] = []
    whole = [_passage_features(passages, rank) for rank in range(len(passages))]
    for places in one.groups:
        own = [_own(one, at, analyze) for at in places]
        _weigh_terms(one, places, own)
        of_passage = whole[one.sentences[places[0]].rank]
        for at, row in zip(places, own, strict=True):
            rows.append({**row, **_beside(one, at, places, own, row), **of_passage})
    meant = meaning_features(one.meant, one.groups)
    return [{**row, **_above_all(row, rows), **more} for row, more in zip(rows, meant, strict=True)]


def _own(one: Seen, at: int, analyze: Analyzer) -> Features:
    sentence, question = one.sentences[at], one.asked
    has, wants = had(sentence.text), question.wants
    aligned = one.likeness.words[at]
    new = [name for name in has.names if name not in question.stems]
    shared = question.pairs & frozenset(pairwise(analyze(sentence.text)))
    return {
        "cosine": one.likeness.asked[at],
        "plain": _share(sum(term in has.stems for term in question.stems), len(question.stems)),
        "aligned": _weighted(aligned, one.likeness.weights),
        "least": min(aligned, default=0.0),
        "pairs": _share(len(shared), len(question.pairs)),
        "length": math.log1p(has.length),
        "first": float(sentence.place == 0),
        "early": 1.0 / (1 + sentence.place),
        "late": _share(sentence.place, sentence.count - 1),
        "last": float(sentence.place == sentence.count - 1),
        "few": 1.0 / sentence.count,
        "number": float(wants.number and has.number),
        "date": float(wants.date and has.year),
        "person": float(wants.person and bool(new)),
        "place": float(wants.place and bool(new)),
        "cause": float(wants.cause and has.cause),
        "goes_on": float(has.goes_on),
        "names": math.log1p(len(new)),
        "digits": float(has.number),
        "commas": float(min(has.commas, 8)),
        **echoes(question.wording, sentence.text),
    }


def _weigh_terms(one: Seen, places: Sequence[int], own: Sequence[Features]) -> None:
    """Add `covered`: the share of the question's terms, where terms that are rare in the passage weigh most.

    And `before`: the share of those that the sentence before has and this one hasn't, which may speak of it as *it*.
    """
    texts = [had(one.sentences[at].text).stems for at in places]
    weights = {
        term: math.log1p((len(texts) - count + 0.5) / (count + 0.5))
        for term in one.asked.stems
        for count in [sum(term in text for text in texts)]
    }
    total = sum(weights.values())
    for before, text, row in zip((frozenset[str](), *texts), texts, own, strict=False):
        row["covered"] = _share(sum(weights[term] for term in weights if term in text), total)
        left = before - text
        row["before"] = _share(sum(weights[term] for term in weights if term in left), total)


def _beside(
    one: Seen, at: int, places: Sequence[int], own: Sequence[Features], row: Features
) -> Features:
    """A sentence beside the best of its passage, which is the one whose words fit best."""
    best = max(range(len(places)), key=lambda place: own[place]["aligned"])
    compared = ("cosine", "covered", "aligned", "ordered", "begun")
    most = {name: max(other[name] for other in own) for name in compared}
    rest = [
        term for term in one.asked.stems if term not in had(one.sentences[places[best]].text).stems
    ]
    has = had(one.sentences[at].text)
    alike = one.likeness.among[at]
    title = frozenset(map(stem, words(one.sentences[at].passage.title)))
    characters = sum(len(one.sentences[place].text) for place in places)
    return {
        **{f"below_{name}": row[name] - most[name] for name in compared},
        "is_best": float(at == places[best]),
        "after_best": float(at == places[best] + 1),
        "before_best": float(at == places[best] - 1),
        "like_best": alike[places[best]],
        "like_first": alike[places[0]],
        "like_all": _share(sum(alike[place] for place in places) - 1.0, len(places) - 1),
        "rest": _share(sum(term in has.stems for term in rest), len(rest)),
        "title": _share(len(title & has.stems), len(title)),
        "share": _share(len(one.sentences[at].text), characters),
    }


def _passage_features(passages: Sequence[RetrievedPassage], rank: int) -> Features:
    """What retrieval thought of a passage, beside the other ones."""
    one = passages[rank]
    near = [passage.vector_score or 0.0 for passage in passages]
    words_of = [passage.keyword_score for passage in passages]
    ranked = [passage.rerank_score or 0.0 for passage in passages]
    return {
        "passage_near": one.vector_score or 0.0,
        "passage_below_near": near[rank] - max(near),
        "passage_words": _share(one.keyword_score, max(words_of)),
        "passage_below": ranked[rank] - max(ranked),
        "passage_early": 1.0 / (1 + rank),
        "passage_first": float(rank == 0),
    }


_ABOVE = ("cosine", "covered", "aligned", "plain", "pairs", "least")


def _above_all(row: Features, rows: Sequence[Features]) -> Features:
    """A sentence beside the best of all passages."""
    return {f"all_{name}": row[name] - max(other[name] for other in rows) for name in _ABOVE}


def answer_features(
    one: Seen,
    rows: Sequence[Features],
    probabilities: Sequence[float],
    passages: Sequence[RetrievedPassage],
) -> Features:
    """What tells whether the best sentence, in its passage, answers; needs a sentence."""
    order = sorted(range(len(rows)), key=lambda at: -probabilities[at])
    best = order[0]
    rank = one.sentences[best].rank
    beside = [at for at in order if one.sentences[at].rank == rank]
    own = (
        "cosine",
        "covered",
        "plain",
        "aligned",
        "least",
        "pairs",
        "number",
        "date",
        "person",
        "place",
        "cause",
    )
    return {
        "best": _log_odds(probabilities[best]),
        "second": _log_odds(probabilities[beside[1]]) if len(beside) > 1 else -4.0,
        "expected": sum(probabilities[at] for at in beside),
        **{name: rows[best][name] for name in own},
        **_meant(one, best, beside),
        **_lacking(one, best, beside),
        **_names(one, best, passages[rank]),
        **{f"wants_{name}": float(value) for name, value in vars(one.asked.wants).items()},
        **_found(passages, rank),
    }


def _meant(one: Seen, best: int, beside: Sequence[int]) -> Features:
    if not one.meant:
        return {}
    return {"meant": one.meant[best], "meant_most": max(one.meant[at] for at in beside)}


def _lacking(one: Seen, best: int, beside: Sequence[int]) -> Features:
    """Which words of the question the passage and the best sentence have none like."""
    question, weights = one.asked, one.likeness.weights
    title = frozenset(map(stem, words(one.sentences[best].passage.title)))
    everywhere = title.union(*(had(one.sentences[at].text).stems for at in beside))
    has = had(one.sentences[best].text)
    gone = [float(term not in everywhere) for term in question.stems]
    gone_here = [float(term not in has.stems) for term in question.stems]
    aligned = one.likeness.words[best]
    anywhere = [
        max(one.likeness.words[at][term] for at in beside) for term in range(len(question.stems))
    ]
    return {
        "gone": _mean(gone),
        "gone_here": _mean(gone_here),
        "gone_weighed": _weighted(gone, weights),
        "gone_here_weighed": _weighted(gone_here, weights),
        "anywhere": _mean(anywhere),
        "anywhere_least": min(anywhere, default=0.0),
        "aligned_mean": _mean(aligned),
        "aligned_worst": _mean(sorted(aligned)[:2]),
        "denies": float(negates(question.text) != has.negation),
        "terms": math.log1p(len(question.stems)),
    }


def _names(one: Seen, best: int, passage: RetrievedPassage) -> Features:
    """How much of the numbers, dates and names of the question the passage has, and the best sentence."""
    named = named_in(one.asked.text)
    said = told("\n".join((passage.title, *passage.heading_path, passage.text)))
    here = told(one.sentences[best].text)
    everything = (*named.numbers, *named.dates, *named.names)
    return {
        "has_numbers": _part(sum(map(said.has_number, named.numbers)), len(named.numbers)),
        "has_dates": _part(sum(map(said.has_words, named.dates)), len(named.dates)),
        "has_names": _part(sum(map(said.has_words, named.names)), len(named.names)),
        "has_here": _part(sum(map(here.has_words, everything)), len(everything)),
        "asked_names": float(len(named.names)),
        "asked_numbers": float(bool(named.dates or named.numbers)),
    }


def _found(passages: Sequence[RetrievedPassage], rank: int) -> Features:
    """What retrieval thought of the passage of the best sentence, and of the first."""
    near = [passage.vector_score or 0.0 for passage in passages]
    ranked = [passage.rerank_score or 0.0 for passage in passages]
    scores = [passage.keyword_score for passage in passages]
    return {
        "near_first": near[0],
        "near": near[rank],
        "near_most": max(near),
        "near_gap": near[0] - near[1] if len(near) > 1 else 0.2,
        "ranked_first": ranked[0],
        "ranked_gap": ranked[0] - ranked[1] if len(ranked) > 1 else 1.0,
        "words_gap": _share(scores[0] - scores[1], scores[0]) if len(scores) > 1 else 1.0,
        "is_first": float(rank == 0),
    }


def weighed(features: Features, weights: Mapping[str, float], bias: float) -> float:
    """The probability that the sum of the features, each times its weight, stands for."""
    total = bias + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def _log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1.0 - 1e-4)
    return math.log(kept / (1.0 - kept))


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def _mean(values: Sequence[float]) -> float:
    return _share(sum(values), len(values))


def _part(part: float, whole: float) -> float:
    """A share; all of nothing is 1."""
    return part / whole if whole else 1.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


__all__ = [
    "Asked",
    "Features",
    "Has",
    "Seen",
    "answer_features",
    "asked",
    "seen",
    "sentence_features",
    "weighed",
]
