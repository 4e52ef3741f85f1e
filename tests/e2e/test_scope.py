"""Documents without intents: what they are about decides what is answered, in the processes too."""

import shutil
from pathlib import Path

import pytest

from .machine import HANDBOOK, Home, asked, running_up

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


async def test_a_foreign_question_to_documents_without_intents_is_out_of_scope(
    home: Home, tmp_path: Path
) -> None:
    """The scope model lies in the snapshot; the result is on results.out_of_scope, a genuine question answered."""
    documents = tmp_path / "documents"
    shutil.copytree(
        HANDBOOK, documents, ignore=lambda _, names: [n for n in names if n[:1] not in "cr"]
    )
    with running_up(home, "--docs", documents):
        async with home.connect() as bus:
            answered = await asked(bus, "Can I get a refund on an annual plan?")
            foreign = await asked(bus, "How many moons does Jupiter have?")
            events = [seen.event for seen in await bus.trace(foreign.query_id)]
            async for result in bus.results("out_of_scope", after="0"):
                assert result.response == foreign
                break
    assert (answered.status, foreign.status) == ("approved", "out_of_scope")
    assert [event.stage for event in events] == ["understand", "format"]
    snapshot = home.path / "corpus" / "snapshots" / str(answered.corpus_version)
    assert (snapshot / "scope" / "scope.json").is_file()
