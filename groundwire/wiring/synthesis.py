"""The synthesizer that a profile wants."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from groundwire.profiles import AnswerPart, Profile

if TYPE_CHECKING:
    from agents.extraction import Extractor, Model
    from agents.likeness import Compare, Likeness
    from agents.meaning import Mean
    from agents.sentences import Piece
    from agents.synthesize import Synthesizer
    from groundwire.models.likeness import WordLikeness
    from groundwire.models.meaning import SentenceMeaning

SAMPLE = "Warm words run. They run warm."


def synthesizer_of(profile: Profile) -> "tuple[Synthesizer, Callable[[], None]]":
    """The synthesizer, and what loads all that it needs."""
    from agents.synthesize import top_passage

    if profile.synthesize.synthesizer == "top_passage":
        return top_passage, lambda: None
    found = extractor_of(profile)

    def warm() -> None:
        sentences = [SAMPLE[piece.start : piece.end] for piece in found.cut(SAMPLE)]
        found.compare(SAMPLE, ["warm"], sentences)
        if found.mean is not None:
            found.mean(SAMPLE, sentences)

    return found, warm


def extractor_of(profile: Profile) -> "Extractor":
    """What chooses sentences; by equal words alone where the vectors of words aren't installed.

    Without the model that its weights for vectors were learned with it goes by those for words.
    """
    from agents.extraction import Extractor
    from agents.tokens import Analyzer

    part, terms = profile.synthesize, profile.terms
    mean = _mean(part.meaning)
    lacks = part.meaning != "none" and mean is None
    return Extractor(
        cut=_cut,
        compare=_compare(part.likeness),
        with_vectors=_model(part.words if lacks else part.vectors),
        without=_model(part.words),
        analyze=Analyzer(frozenset(terms.stopwords), terms.stems),
        beta=part.beta,
        most=part.most,
        mean=mean,
        brevity=part.brevity,
    )


def _model(part: AnswerPart | None) -> "Model":
    from agents.extraction import Model

    if part is None:
        return Model()
    return Model(part.sentence, part.bias, part.answer, part.answer_bias, part.threshold)


def _cut(text: str) -> "Sequence[Piece]":
    from agents.sentences import Piece
    from groundwire.corpus.chunking.pieces import pieces

    return [Piece(one.start, one.end, one.kind, one.context) for one in pieces(text)]


def _compare(name: str) -> "Compare":
    from agents.likeness import Likeness, by_stems
    from groundwire.models import missing

    if name == "stems" or missing(name):
        return by_stems

    def compare(question: str, terms: Sequence[str], sentences: Sequence[str]) -> "Likeness":
        found = _word_likeness()(question, terms, sentences)
        return Likeness(found.asked, found.words, found.among, found.weights)

    return compare


def _mean(name: str) -> "Mean | None":
    from groundwire.models import missing

    if name == "none" or missing(name):
        return None

    def mean(question: str, sentences: Sequence[str]) -> tuple[float, ...]:
        return _sentence_meaning(name)(question, sentences)

    return mean


@cache
def _sentence_meaning(name: str) -> "SentenceMeaning":
    """By the embedder that search and classifier share in this process."""
    from groundwire.models import open_embedder
    from groundwire.models.meaning import SentenceMeaning

    return SentenceMeaning(open_embedder(name))


@cache
def _word_likeness() -> "WordLikeness":
    """Opened at the first comparison: a handler is built where nothing may be loaded yet."""
    from groundwire.models import open_static
    from groundwire.models.likeness import WordLikeness

    return WordLikeness(open_static())
