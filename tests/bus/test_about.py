"""Which query a message is about: found in each, and kept by whatever a stage makes of it."""

from typing import Any

import pytest
from bus_system import NOOP, query

from contracts import Query, Value
from contracts.about import is_about, keeps_question, query_of

ASKED = query("why?").model_copy(update={"query_id": "0-1"})
STAGES = [*NOOP]


async def given_to(stage: str, asked: Query = ASKED) -> Any:
    """What a stage is given of a query."""
    message: Any = asked
    for before in STAGES[: STAGES.index(stage)]:
        message = await NOOP[before](message)
    return message


async def made_by(stage: str, asked: Query = ASKED) -> Any:
    """What a stage makes of a query."""
    return await NOOP[stage](await given_to(stage, asked))


@pytest.mark.parametrize("stage", STAGES)
async def test_the_query_is_found_in_every_message(stage: str) -> None:
    """A dead letter answers in the asker's session and channel, at whatever stage."""
    assert query_of(await given_to(stage)) == ASKED


def test_what_holds_no_query_is_about_any() -> None:
    """Nothing can be said against it."""
    assert query_of(None) is None
    assert is_about(None, "0-2")
    assert is_about(ASKED, "0-1")
    assert not is_about(ASKED, "0-2")


@pytest.mark.parametrize("stage", STAGES)
async def test_what_is_made_of_another_query_does_not_keep_it(stage: str) -> None:
    """By its id, its session, its channel, or what was asked; one that is equal is the same."""
    given = await given_to(stage)

    async def keeps(**changes: object) -> bool:
        made: Value = await made_by(stage, ASKED.model_copy(update=changes))
        return keeps_question(made, given, query_of(given))

    assert await keeps()
    for changes in ({"query_id": "0-2"}, {"session_id": "another"}, {"channel": "html"}):
        assert not await keeps(**changes)
    is_last = stage == STAGES[-1]  # a result has no question in it
    assert await keeps(text="why not?") is is_last


@pytest.mark.parametrize("stage", STAGES[1:-1])
async def test_what_has_another_intent_does_not_keep_the_question(stage: str) -> None:
    """Nothing that is drafted may pass for what was understood."""
    given, made = await given_to(stage), await made_by(stage)
    changed = made.intent.model_copy(update={"cleaned_text": "drafted"})
    other = made.model_copy(update={"intent": changed})
    assert keeps_question(made, given, query_of(given))
    assert not keeps_question(other, given, query_of(given))
