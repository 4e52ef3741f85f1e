"""The extractive synthesizer alone: for measuring it, and for learning what it goes by."""

from collections.abc import Mapping
from dataclasses import replace

from agents.extraction import Extractor, Judged, Model
from agents.synthesize import Drafted
from contracts import RetrievedContext

from .retrieval import asking
from .synthesis import extractor_of


def taught(
    extractor: Extractor,
    sentence: Mapping[str, float],
    answer: Mapping[str, float] | None = None,
    threshold: float = 0.0,
) -> Extractor:
    """The extractor with learned weights, `bias` among them, for passages found any way."""
    gate = dict(answer or {})
    model = Model(
        sentence={name: weight for name, weight in sentence.items() if name != "bias"},
        bias=sentence.get("bias", 0.0),
        answer={name: weight for name, weight in gate.items() if name != "bias"},
        answer_bias=gate.get("bias", 0.0),
        threshold=threshold,
    )
    return replace(extractor, with_vectors=model, without=model)


def judged(extractor: Extractor, context: RetrievedContext) -> Judged:
    """Every sentence of a context with its features, for the whole question."""
    model = extractor.model(context)
    return extractor.judge(context.intent.cleaned_text, context.passages, model)


__all__ = ["Drafted", "Extractor", "Judged", "asking", "extractor_of", "judged", "taught"]
