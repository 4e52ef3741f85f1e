"""The same questions get the same answers, whatever the workers go through."""

from pathlib import Path

import pytest

from benchmarks.same_answers import measure

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


async def test_workers_kills_and_ingestions_change_no_byte_of_an_answer(tmp_path: Path) -> None:
    """One worker a stage, then two, while some are killed, and after another version of the corpus and back."""
    found = await measure(tmp_path, "fast", counts=(1, 2), limit=12)
    assert found.questions == 12
    assert found.workers == {1: 0, 2: 0}
    assert (found.after_kills, found.after_ingestion) == (0, 0)
