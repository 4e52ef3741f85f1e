"""Intents in the processes: a question is asked back, and a changed file holds from the next question on."""

import os
from pathlib import Path

import pytest

from bus import Bus

from .machine import Home, asked, running_up

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

FILE = """version = 1
[[intents]]
label = "pricing"
keywords = { "how much" = 3, price = 3 }
[entities.product]
basic = ["basic"]
plus = ["plus"]
max = ["max"]
[messages]
clarification = "Which one?"
"""


async def digest_at(bus: Bus, query_id: str, stage: str) -> str:
    """The digest of the configuration that a stage handled a query with."""
    events = [seen.event for seen in await bus.trace(query_id)]
    return next(event.config_digest for event in events if event.stage == stage)


async def test_an_open_question_is_asked_back_and_a_changed_file_is_picked_up(
    home: Home, tmp_path: Path
) -> None:
    """The clarification travels past retrieval to the reader; the digests tell which file each query was read by."""
    documents, path = tmp_path / "documents", tmp_path / "mine.toml"
    documents.mkdir()
    (documents / "prices.md").write_text("# Prices\n\nThe price of Basic is 5 a month.")
    path.write_text(FILE)
    up = ("--docs", documents, "--profile", "fast", "--intents", path)
    with running_up(home, *up):
        async with home.connect() as bus:
            open_one = await asked(bus, "How much is it?")
            assert open_one.status == "clarification_needed"
            assert open_one.channel_json.options == ("basic", "plus", "max")
            assert open_one.display_text == "Which one?\n\n- basic\n- plus\n- max"
            stages = [seen.event.stage for seen in await bus.trace(open_one.query_id)]
            assert stages == ["understand", "format"]
            fresh = tmp_path / "fresh.toml"
            fresh.write_text(FILE.replace("max", "team").replace("Which one?", "Which plan?"))
            os.replace(fresh, path)
            again = await asked(bus, "How much is it?")
            assert again.display_text == "Which plan?\n\n- basic\n- plus\n- team"
            before, after = [
                {stage: await digest_at(bus, one.query_id, stage) for stage in stages}
                for one in (open_one, again)
            ]
    assert len(set(before.values())) == len(set(after.values())) == 1
    assert before != after
