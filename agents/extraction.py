"""The sentences that together answer a question and its parts, if the evidence does: the default synthesizer. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts import Part, RetrievedContext, RetrievedPassage

from .evidence import Features, answer_features, asked, seen, sentence_features, weighed
from .likeness import Compare
from .meaning import Mean
from .quotes import quotes
from .selection import choose
from .sentences import Cut, Sentence, sentences
from .synthesize import Drafted
from .tokens import Analyzer

SAME = 0.95
"""Cosine of two sentences of which one says nothing that the other doesn't, if their numbers are the same too."""
OF_A_PART = 0.5
"""A part of a question leans on the rest: of the threshold this share has to speak for it alone."""
_NUMBER = re.compile(r"\d[\d.,:]*")


@dataclass(frozen=True)
class Model:
    """What was learned of answers: the log-odds of a sentence to be part of one, and of the evidence to hold one."""

    sentence: Mapping[str, float] = field(default_factory=dict)
    bias: float = 0.0
    answer: Mapping[str, float] = field(default_factory=dict)
    answer_bias: float = 0.0
    threshold: float = 0.0


@dataclass(frozen=True)
class Judged:
    """A question with its sentences: how probable each is, and the features that say so.

    Invariant: `len(sentences) == len(rows) == len(probabilities)`. `answering`: empty without sentences.
    """

    question: str
    sentences: Sequence[Sentence]
    rows: Sequence[Features]
    probabilities: Sequence[float]
    among: Sequence[Sequence[float]]
    answering: Features
    evidence: float


@dataclass(frozen=True)
class Extractor:
    """Chooses sentences. `with_vectors` and `without`: of passages found by vectors too, and by words alone.

    `mean`: what the former was learned with, if with any. `brevity`: see `choose`.
    """

    cut: Cut
    compare: Compare
    with_vectors: Model
    without: Model
    analyze: Analyzer = field(default_factory=Analyzer)
    beta: float = 1.0
    most: int = 8
    mean: Mean | None = None
    brevity: float = 0.0

    def model(self, context: RetrievedContext) -> Model:
        """What was learned for passages found like these."""
        return self.with_vectors if "vectors" in context.signals else self.without

    def judge(self, question: str, passages: Sequence[RetrievedPassage], model: Model) -> Judged:
        """Weigh every sentence of passages, and all of them together."""
        found = sentences(passages, self.cut)
        if not found:
            return Judged(question, (), (), (), (), {}, 0.0)
        mean = self.mean if model is self.with_vectors else None
        one = seen(asked(question, self.analyze), found, self.compare, mean)
        rows = sentence_features(one, passages, self.analyze)
        probabilities = [weighed(row, model.sentence, model.bias) for row in rows]
        answering = answer_features(one, rows, probabilities, passages)
        evidence = weighed(answering, model.answer, model.answer_bias)
        return Judged(question, found, rows, probabilities, one.likeness.among, answering, evidence)

    def __call__(self, context: RetrievedContext) -> Drafted:
        """The sentences for a context; none where the evidence doesn't reach the threshold."""
        model = self.model(context)
        whole = self.judge(context.intent.cleaned_text, context.passages, model)
        parts = [
            self.judge(part.question, _passages(context, part), model) for part in context.parts
        ]
        evidence = max(one.evidence for one in (whole, *parts))
        if evidence < model.threshold:
            return Drafted((), evidence)
        told = [one for one in parts if one.evidence >= OF_A_PART * model.threshold]
        left = {one.question for one in parts if one not in told}
        return Drafted(
            quotes=quotes([one for judged in (whole, *told) for one in self.best(judged)]),
            evidence=evidence,
            open=tuple(one for one in context.intent.sub_questions if one in left),
        )

    def best(self, judged: Judged) -> list[Sentence]:
        """The set with the highest expected F, without what is said in it already."""
        kept: list[int] = []
        costs = [self.brevity * share for share in _shares(judged.sentences)]
        for place in choose(judged.probabilities, self.beta, self.most, costs):
            if not any(_same(judged, place, other) for other in kept):
                kept.append(place)
        return [judged.sentences[place] for place in kept]


def _shares(sentences: Sequence[Sentence]) -> list[float]:
    """The length of each sentence beside that of a passage, which is the mean of theirs."""
    lengths = {one.rank: len(one.passage.text) for one in sentences}
    mean = sum(lengths.values()) / max(1, len(lengths))
    return [len(one.text) / mean for one in sentences]


def _passages(context: RetrievedContext, part: Part) -> list[RetrievedPassage]:
    """The passages of a part, with the scores that they have for it."""
    known = {passage.passage_id: passage for passage in context.passages}
    return [
        known[score.passage_id].model_copy(
            update={
                "keyword_score": score.keyword_score,
                "vector_score": score.vector_score,
                "rerank_score": score.rerank_score,
            }
        )
        for score in part.scores
        if score.passage_id in known
    ]


def _same(judged: Judged, place: int, other: int) -> bool:
    one, two = judged.sentences[place].text, judged.sentences[other].text
    return judged.among[place][other] >= SAME and _NUMBER.findall(one) == _NUMBER.findall(two)
