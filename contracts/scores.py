"""The numbers of a decision that the event of a hop carries: what was decided, never what was said."""

from collections.abc import Callable, Mapping

from .answer import Approved, DraftAnswer, FormattedResponse, Rejected, RetrievedContext
from .base import Value
from .query import Clarification, Intent, OutOfScope


def _intent(message: Intent) -> dict[str, float]:
    return {"confidence": message.confidence, "in_scope": float(message.in_scope)}


def _context(message: RetrievedContext) -> dict[str, float]:
    best = message.passages[0].hybrid_score if message.passages else 0.0
    return {"passages": float(len(message.passages)), "best_hybrid": best}


def _draft(message: DraftAnswer) -> dict[str, float]:
    return {
        "segments": float(len(message.segments)),
        "caveats": float(len(message.caveats)),
        "entity_match": float(message.entity_match),
        **({} if message.evidence is None else {"evidence": message.evidence}),
    }


def _verdict(message: Approved | Rejected) -> dict[str, float]:
    return {check.name: float(check.passed) for check in message.checks}


def _of_intent(message: OutOfScope | Clarification) -> dict[str, float]:
    return _intent(message.intent)


def _response(message: FormattedResponse) -> dict[str, float]:
    return {"confidence": message.confidence}


_SCORES: Mapping[type, Callable[..., dict[str, float]]] = {
    Intent: _intent,
    OutOfScope: _of_intent,
    Clarification: _of_intent,
    RetrievedContext: _context,
    DraftAnswer: _draft,
    Approved: _verdict,
    Rejected: _verdict,
    FormattedResponse: _response,
}


def scores_of(message: Value | None) -> dict[str, float]:
    """The decision scores of a message; empty where it has none."""
    score = _SCORES.get(type(message))
    return score(message) if score else {}
