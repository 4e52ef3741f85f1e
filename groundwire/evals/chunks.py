"""How much of what answers a question is in the passages found, and how little else. Pure, but for the finding."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from groundwire.corpus import Chunking, Document, chunk
from groundwire.wiring import build_retriever

from .metrics import interval
from .retrieval import Measured, Progress, System, embedder_of, keeping
from .spans import Span, SpanCollection

KEPT = 5
CHARACTERS = 400
MOST_SHARED = 0.5
"""Of windows that overlap by more than half, the better one is kept. Fixed after other shares were seen on this set."""


def windowed(system: System) -> System:
    """The same profile on windows from every sentence on, without repeating itself."""
    profile = system.profile
    cutting = profile.chunking.model_copy(update={"method": "windows", "overlap": 0})
    retrieve = profile.retrieve.model_copy(update={"most_shared": MOST_SHARED})
    changed = profile.model_copy(update={"chunking": cutting, "retrieve": retrieve})
    return replace(system, name=f"{system.name}, windows", profile=changed)


def covered(spans: Iterable[Span]) -> set[tuple[str, int]]:
    """The characters of some spans, each once."""
    return {(span.document, at) for span in spans for at in range(span.start, span.end)}


def character_recall(found: Sequence[Span], gold: Sequence[Span]) -> float:
    """The share of the gold characters that are found."""
    wanted = covered(gold)
    return len(wanted & covered(found)) / len(wanted)


def character_iou(found: Sequence[Span], gold: Sequence[Span]) -> float:
    """Those found that are gold, as a share of all that are either."""
    wanted, shown = covered(gold), covered(found)
    return len(wanted & shown) / len(wanted | shown)


async def measure_chunks(
    system: System, collection: SpanCollection, *, cache: Path, progress: Progress
) -> Measured:
    """Cut all documents as the profile does, into at most 400 characters; keep 5 passages a question.

    The documents of the set have no titles: the names of their files are none.
    """
    cutting = Chunking(system.profile.chunking.method, CHARACTERS)
    documents = (
        chunk(Document(name, " ", f"{name}.md", text, markdown=True), cutting)
        for name, text in collection.documents.items()
    )
    retriever = build_retriever(
        keeping(system.profile, KEPT), documents, embedder=embedder_of(system, cache, progress)
    )
    recalls, ious = [], []
    for done, question in enumerate(collection.questions, start=1):
        context = await retriever(question.text)
        found = [Span(one.doc_id, one.char_start, one.char_end) for one in context.passages]
        recalls.append(character_recall(found, question.gold))
        ious.append(character_iou(found, question.gold))
        progress(f"{system.name}: questions", done, len(collection.questions))
    values = {"recall": recalls, "iou": ious}
    means = {name: interval(found) for name, found in values.items()}
    return Measured(system.name, len(collection.questions), means, values)
