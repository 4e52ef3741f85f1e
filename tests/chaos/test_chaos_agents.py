"""The agents of chaos and their load: what each query is to do is in the query itself."""

import pytest

from contracts import Query, Transient
from groundwire.chaos.agents import Mark, handler_of, mark_of, natural_s
from groundwire.chaos.arena import CONFIG
from groundwire.chaos.load import LARGE


def test_some_of_the_load_travels_as_blobs() -> None:
    """So that every fault meets them: each message up to the result holds the question."""
    assert len(LARGE) > CONFIG.blob_bytes
    assert Query(text=LARGE, session_id="s").text == LARGE


def test_a_mark_rides_in_the_query() -> None:
    mark = Mark("slow", "critic", 1500)
    query = Query(text="?", session_id="s", feature=mark.feature)
    assert mark_of(query) == mark
    assert mark_of(query.model_copy(update={"feature": "search"})) is None
    assert mark_of(query.model_copy(update={"feature": None})) is None
    assert mark_of(query.model_copy(update={"feature": "chaos:unheard:critic:1"})) is None


def test_how_long_a_handler_takes_is_a_function_of_query_and_stage() -> None:
    """A redelivery takes as long as the first delivery did."""
    assert natural_s("0-a", "critic") == natural_s("0-a", "critic") != natural_s("0-a", "format")


async def test_a_flaky_handler_fails_once_in_each_process() -> None:
    query = Query(
        query_id="0-a", text="?", session_id="s", feature=Mark("flaky", "understand").feature
    )
    handle = handler_of("understand")
    with pytest.raises(Transient):
        await handle(query)
    assert (await handle(query)).type == "intent"  # type: ignore[attr-defined]
