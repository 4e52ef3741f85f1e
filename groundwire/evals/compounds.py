"""Compound questions: whether both parts are told apart, found and answered. Development data, made by `joining`.

Of our examples through all five agents, of CLAP NQ and SQuAD 2.0 through retrieve and synthesize as they ship.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts import RetrievedContext, Segment
from groundwire.profiles import Profile
from groundwire.wiring import Retriever, build_pipeline, build_retriever
from groundwire.wiring.answering import Extractor, extractor_of

from .answersets import READERS, Answerable, AnswerSet, read
from .cases import FOLDERS, plain, quoted
from .joining import Joined, are_apart, joined, pairs
from .retrieval import System, document_of, embedder_of

MOST_PAIRS = 300
Tell = Callable[[str, int, int], None]


@dataclass
class Counted:
    """Pairs, and of how many both parts were told apart, both passages found, both answers quoted."""

    pairs: int = 0
    apart: int = 0
    found: int = 0
    answered: int = 0
    characters: int = 0

    def count(self, *, apart: bool, found: bool, answered: bool, characters: int) -> None:
        """Take one in."""
        self.pairs += 1
        self.apart += apart
        self.found += found
        self.answered += answered
        self.characters += characters


@dataclass(frozen=True)
class Example:
    """An answerable question of our examples."""

    question: str
    doc: str
    quote: str


async def measure(
    profile: Profile, data: Path, examples: Path, cache: Path, tell: Tell
) -> dict[str, Any]:
    """Of our examples and of both published sets."""
    found: dict[str, Any] = {"examples": await measure_examples(profile, examples)}
    for name in READERS:
        found[name] = await measure_set(profile, read(data, name), cache, tell)
    return found


async def measure_examples(profile: Profile, examples: Path) -> dict[str, Any]:
    """Pairs of our examples' questions about different documents."""
    counted: dict[str, Counted] = {}
    for name in FOLDERS:
        pipeline = build_pipeline(profile, examples / name)
        chosen = pairs(examples_in(examples / name / "questions.jsonl"), lambda one: one.doc)
        texts = joined([(one.question, two.question) for one, two in chosen])
        for asked, answers in zip(texts, chosen, strict=True):
            trace = await pipeline.run(asked.text)
            quotes = [plain(one.text) for one in trace.response.segments]
            passages = [plain(one.text) for one in trace.context.passages] if trace.context else []
            _counted(counted, asked.form).count(
                apart=_are_apart(trace.context, asked, profile),
                found=all(quoted([one.quote], passages) for one in answers),
                answered=all(quoted([one.quote], quotes) for one in answers),
                characters=sum(map(len, quotes)),
            )
    return _as_json(counted)


async def measure_set(
    profile: Profile, found: AnswerSet, cache: Path, tell: Tell, most: int = MOST_PAIRS
) -> dict[str, Any]:
    """Pairs of a published set's answerable questions: of SQuAD about one article, of CLAP NQ about any two."""
    embedder = embedder_of(System(profile.name, profile), cache, tell)
    retrieve = build_retriever(profile, map(document_of, found.entries), embedder=embedder)
    chosen = _chosen(found, most)
    extractor = extractor_of(profile)
    counted: dict[str, Counted] = {}
    texts = joined([(one.text, two.text) for one, two in chosen])
    for at, (asked, both) in enumerate(zip(texts, chosen, strict=True), 1):
        await _count(retrieve, extractor, asked, both, counted, profile)
        tell(f"{found.name}: compound questions", at, len(chosen))
    return _as_json(counted)


async def _count(
    retrieve: Retriever,
    extract: Extractor,
    asked: Joined,
    both: Sequence[Answerable],
    counted: dict[str, Counted],
    profile: Profile,
) -> None:
    context = await retrieve(asked.text)
    segments = [one.segment for one in extract(context).quotes]
    passages = {one.doc_id for one in context.passages}
    _counted(counted, asked.form).count(
        apart=_are_apart(context, asked, profile),
        found=all(one.entry_id in passages for one in both),
        answered=all(_is_quoted(one, segments) for one in both),
        characters=sum(len(one.text) for one in segments),
    )


def _chosen(found: AnswerSet, most: int) -> list[tuple[Answerable, Answerable]]:
    answerable = [one for one in found.questions if one.is_answerable]
    if found.sentences:
        return pairs(answerable, lambda one: one.entry_id)[:most]
    by_article: dict[str, list[Answerable]] = {}
    for one in answerable:
        by_article.setdefault(one.fold, []).append(one)
    each = [pairs(asked, lambda one: one.entry_id) for asked in by_article.values()]
    share = -(-most // max(len(each), 1))
    return [pair for some in each for pair in some[:share]][:most]


def _is_quoted(asked: Answerable, segments: Sequence[Segment]) -> bool:
    """Whether any of what answers is inside a quote; of sentences that people chose, mostly."""
    spans = [(one.char_start, one.char_end) for one in segments if one.doc_id == asked.entry_id]
    return any(start <= begin and end <= stop for begin, end in asked.gold for start, stop in spans)


def _are_apart(context: RetrievedContext | None, asked: Joined, profile: Profile) -> bool:
    told = [part.question for part in context.parts] if context else []
    return are_apart(told, asked, profile.terms.stopwords)


def examples_in(path: Path) -> list[Example]:
    """The answerable questions of a file of ours."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Example(line["question"], line["doc"], line["quote"])
        for line in lines
        if line["answerable"]
    ]


def _counted(counted: dict[str, Counted], form: str) -> Counted:
    return counted.setdefault(form, Counted())


def _as_json(counted: dict[str, Counted]) -> dict[str, Any]:
    """The sums, those of each form, and the mean lengths of answers."""
    every = Counted(*(sum(vars(one)[name] for one in counted.values()) for name in vars(Counted())))
    forms = {form: _shown(one) for form, one in sorted(counted.items())}
    return {**_shown(every), "forms": forms}


def _shown(one: Counted) -> dict[str, int]:
    return {**vars(one), "characters": round(one.characters / max(one.pairs, 1))}
