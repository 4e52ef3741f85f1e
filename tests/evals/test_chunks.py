"""What of an answer is in the passages that were found."""

from pathlib import Path

from groundwire.evals.chunks import character_iou, character_recall, measure_chunks, windowed
from groundwire.evals.retrieval import systems
from groundwire.evals.spans import Span, SpanCollection, SpanQuestion

GOLD = [Span("d", 10, 20), Span("d", 15, 30)]


def test_characters_count_once() -> None:
    """Overlapping golds are 20 characters, overlapping passages 15."""
    found = [Span("d", 0, 15), Span("d", 5, 15)]
    assert character_recall(found, GOLD) == 5 / 20
    assert character_iou(found, GOLD) == 5 / 30


def test_the_same_place_of_another_document_is_another() -> None:
    """Nothing found, nothing shared."""
    assert character_recall([Span("e", 10, 30)], GOLD) == 0.0
    assert character_iou([], GOLD) == 0.0


async def test_documents_are_cut_and_searched_as_a_profile_does(tmp_path: Path) -> None:
    """A document of one passage is found whole."""
    text = "Refunds take thirty days."
    asked = SpanQuestion("how long do refunds take?", (Span("a", 0, len(text)),))
    collection = SpanCollection({"a": text, "b": "Sheep eat grass."}, (asked,))
    (bm25,) = (one for one in systems([]) if one.name == "bm25")
    found = await measure_chunks(bm25, collection, cache=tmp_path, progress=lambda *_: None)
    assert found.measures["recall"].mean == found.measures["iou"].mean == 1.0


async def test_windows_are_measured_without_what_repeats_itself(tmp_path: Path) -> None:
    """A long document of one answer: five places of it are found, not five times one."""
    text = " ".join(
        f"Refunds take {days} days in the shop of town number {days}." for days in range(60)
    )
    asked = SpanQuestion("how long do refunds take?", (Span("a", 0, len(text)),))
    (bm25,) = (one for one in systems([]) if one.name == "bm25")
    collection = SpanCollection({"a": text}, (asked,))
    shown = {}
    for system in (bm25, windowed(bm25)):
        found = await measure_chunks(system, collection, cache=tmp_path, progress=lambda *_: None)
        shown[system.name] = found.measures["recall"].mean
    assert shown["bm25, windows"] > 0.35
