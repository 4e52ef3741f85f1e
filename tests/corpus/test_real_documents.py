"""Documents that no one here wrote: the policies of Basecamp, in Markdown."""

import os
import re
from pathlib import Path

import pytest

from groundwire.corpus import Chunking, Snapshot, in_memory

ROOT = Path(__file__).resolve().parents[2]
POLICIES = ROOT / os.environ.get("GROUNDWIRE_DATA", "../shared/data") / "basecamp"

pytestmark = pytest.mark.skipif(
    not POLICIES.is_dir(), reason=f"no policies at {POLICIES}: set GROUNDWIRE_DATA"
)


@pytest.fixture(scope="module", params=["structure", "fixed"])
def policies(request: pytest.FixtureRequest) -> Snapshot:
    snapshot, ingestion = in_memory([POLICIES], Chunking(request.param, 400))
    assert not ingestion.problems
    return snapshot


def test_no_word_of_a_policy_is_lost(policies: Snapshot) -> None:
    """What the file holds below its front matter is in the text, and the text is in passages."""
    assert len(policies.documents) >= 10
    for name, document in policies.documents.items():
        raw = (POLICIES / name).read_text("utf-8")
        body = re.sub(r"\A--- *\n.*?\n--- *\n", "", raw, flags=re.DOTALL)
        assert document.text.strip() == body.strip()
        covered = bytearray(len(document.text))
        for passage in document.passages:
            size = passage.char_end - passage.char_start
            covered[passage.char_start : passage.char_end] = b"\1" * size
        missed = [c for c, seen in zip(document.text, covered, strict=True) if not seen]
        assert "".join(missed).strip() == ""


def test_front_matter_is_not_quoted_as_policy(policies: Snapshot) -> None:
    """It names the page."""
    refund = policies.documents["refund/index.md"]
    assert "title:" not in refund.text
    assert refund.title != "index"


def test_a_passage_is_found_on_its_line(policies: Snapshot) -> None:
    """The first words of each passage stand on the line of the file that it names."""
    for document, passage in policies.passages:
        place = document.place(passage.char_start)
        assert place is not None
        line = (POLICIES / document.source).read_text("utf-8").split("\n")[place.number - 1]
        assert document.text_of(passage).split("\n")[0] in line
