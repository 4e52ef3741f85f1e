"""Passages read with their neighbours: what they are named by, and that a quote of them stands up to the critic."""

from pathlib import Path

import pytest

from groundwire import profiles
from groundwire.corpus import Chunking, Document, Passage, chunk, snapshot_of
from groundwire.wiring import build_pipeline

PAGE = """# Parcels

A parcel may be sent back within 21 days. Keep the slip of 3 pages. The shop pays for the way back.

Broken parcels are mended for free. That takes a week at most. Nobody pays for the way there.

## Letters

Letters can't be sent back.
"""


@pytest.fixture(scope="module")
def page() -> Document:
    return chunk(Document("p.md", "Parcels", "p.md", PAGE), Chunking("structure", 60))


@pytest.mark.parametrize("most", [1, 90, 150, 10_000])
def test_a_merged_passage_is_found_by_its_name_and_is_the_document_s_text(
    page: Document, most: int
) -> None:
    """Whole neighbours of one section, no more characters than allowed unless one alone has more."""
    corpus = snapshot_of([page])
    for ordinal, alone in enumerate(page.passages):
        document, merged = corpus.merged_at(ordinal, most)
        assert page.passage(merged.passage_id) == merged
        assert merged.char_start <= alone.char_start < alone.char_end <= merged.char_end
        assert merged == alone or merged.char_end - merged.char_start <= most
        assert (merged.section, merged.heading_path) == (alone.section, alone.heading_path)
        assert document.text_of(merged) == PAGE[merged.char_start : merged.char_end]


def test_as_many_neighbours_are_read_as_fit(page: Document) -> None:
    """What follows comes first, then what precedes."""
    corpus = snapshot_of([page])
    _, _, third, *_ = page.passages
    assert corpus.merged_at(2, 10_000)[1].char_start == page.passages[0].char_start
    assert corpus.merged_at(2, 1)[1] == third
    fits = page.passages[3].char_end - third.char_start
    assert corpus.merged_at(2, fits)[1].char_end == page.passages[3].char_end


def test_only_neighbours_of_one_section_in_order_are_a_passage(page: Document) -> None:
    """A name that joins others names nothing: the critic rejects what cites it."""
    first, second, *_, last = (one.passage_id for one in page.passages)
    assert page.passage(f"{first}..{second}") is not None
    for name in (f"{second}..{first}", f"{first}..{last}", f"{first}..{first}", f"{first}..", ".."):
        assert page.passage(name) is None


def test_ids_that_could_be_taken_for_joined_ones_are_never_joined() -> None:
    """An id of a user's own may hold two dots."""
    text = "One. Two."
    passages = (Passage("a..b", 0, 4), Passage("c", 5, 9))
    document = Document("d", "D", "d", text, passages=passages)
    assert snapshot_of([document]).merged_at(0, 100)[1] == passages[0]
    assert document.passage("a..b") == passages[0]


async def test_an_answer_from_a_merged_passage_is_approved(tmp_path: Path) -> None:
    """Its citation resolves, and the same page isn't found twice."""
    (tmp_path / "p.md").write_text(PAGE)
    known = profiles.load("default")
    merging = known.model_copy(
        update={
            "chunking": known.chunking.model_copy(update={"size": 60}),
            "retrieve": known.retrieve.model_copy(
                update={"merged_chars": 400, "embedder": "none", "rerank": "none"}
            ),
        }
    )
    trace = await build_pipeline(merging, tmp_path).run(
        "within how many days is a parcel returned?"
    )
    assert trace.context is not None
    assert ".." in trace.context.passages[0].passage_id
    assert len({one.char_start for one in trace.context.passages}) == len(trace.context.passages)
    assert trace.response.status == "approved"
