import asyncio
from typing import Any

import pytest
from bus_system import FAST, FakeBackend, System, query
from redis import exceptions as errors

from bus import Backend
from contracts import (
    IdempotencyConflict,
    Invalid,
    Overloaded,
    Query,
    ResultTimeout,
    Unreachable,
)
from contracts.address import Node
from contracts.ids import lane_of_query

pytest_plugins = ("bus_fixtures",)


async def test_a_submit_is_one_open_query_and_one_entry(system: System) -> None:
    """Accepted, open with its deadline, on the stream."""
    query_id = await system.bus.submit(query())
    found = await system.verification()
    assert (found.accepted, found.open, found.working) == (1, 1, 1)
    assert found.holds
    assert lane_of_query(query_id) == 0
    seconds, _ = await system.call("TIME")
    deadline = float(await system.call("ZSCORE", system.keys.open, query_id)) / 1000
    assert abs(deadline - int(seconds) - FAST.deadline_s) < 3


async def test_one_key_sixty_four_times_at_once_is_one_query(backend: Backend) -> None:
    """From eight clients: one id, one acceptance."""
    systems = [System(backend) for _ in range(8)]
    for opened in systems:
        await opened.__aenter__()
    ids = await asyncio.gather(
        *(
            opened.bus.submit(query("once"), idempotency_key="order 7")
            for opened in systems
            for _ in range(8)
        )
    )
    found = await systems[0].verification()
    assert len(set(ids)) == 1
    assert (found.accepted, found.open, found.working) == (1, 1, 1)
    for opened in systems:
        await opened.__aexit__()


@pytest.mark.parametrize("change", [{"text": "other"}, {"user_id": "u"}, {"labels": ("staff",)}])
async def test_a_key_used_for_another_question_is_a_conflict(
    system: System, change: dict[str, object]
) -> None:
    """It names the query that has the key; nothing is written."""
    query_id = await system.bus.submit(query(), idempotency_key="k")
    with pytest.raises(IdempotencyConflict, match=query_id):
        await system.bus.submit(query().model_copy(update=change), idempotency_key="k")
    assert (await system.verification()).accepted == 1


async def test_a_key_stays_known_after_the_answer(system: System) -> None:
    """A client that repeats hours later gets the same id, whose result is there."""
    async with system.running():
        first = await system.bus.submit(query(), idempotency_key="k")
        await system.bus.result(first)
        assert await system.bus.submit(query(), idempotency_key="k") == first
        await system.settled()
    assert 0 < await system.call("PTTL", system.keys.idempotency("k")) <= 86_400_000


async def test_a_submit_with_the_same_query_id_is_the_same_query(system: System) -> None:
    """The id is the default key: whoever lost the reply repeats it as it was."""
    asked = query().model_copy(update={"query_id": "0-mine"})
    assert [await system.bus.submit(asked) for _ in range(3)] == ["0-mine"] * 3
    assert (await system.verification()).accepted == 1
    with pytest.raises(IdempotencyConflict):
        await system.bus.submit(asked.model_copy(update={"text": "other"}))


async def test_another_key_cannot_take_an_open_query_id(system: System) -> None:
    """Two keys, one id: the second is a conflict, not a second message."""
    asked = query().model_copy(update={"query_id": "0-mine"})
    await system.bus.submit(asked, idempotency_key="one")
    with pytest.raises(IdempotencyConflict):
        await system.bus.submit(asked, idempotency_key="two")
    found = await system.verification()
    assert (found.accepted, found.working) == (1, 1)


async def test_over_the_mark_a_submit_is_refused_and_comes_back_later(backend: Backend) -> None:
    """Overloaded says when to come again; what is known is still answered."""
    from dataclasses import replace

    async with System(backend, replace(FAST, open_mark=5)) as system:
        for number in range(5):
            await system.bus.submit(query(str(number)), idempotency_key=str(number))
        with pytest.raises(Overloaded) as refused:
            await system.bus.submit(query("5"))
        assert refused.value.retry_after_s > 0
        await system.bus.submit(query("4"), idempotency_key="4")
        assert (await system.verification()).accepted == 5
        async with system.running():
            await system.settled()
            await system.ask("5")
            assert (await system.settled()).accepted == 6


async def test_many_at_once_are_accepted_in_order(system: System) -> None:
    """Three hundred in four round trips; the ids are in the order of the questions."""
    questions = [query(str(number)) for number in range(300)]
    ids = await system.bus.submit_many(questions)
    assert len(set(ids)) == 300
    entries = await system.call("XRANGE", system.keys.of("queries"), "-", "+")
    assert [query_id.encode() in flat[1] for query_id, (_, flat) in zip(ids, entries, strict=True)]
    assert (await system.verification()).holds


async def test_a_text_that_is_no_unicode_is_invalid_and_writes_nothing(system: System) -> None:
    """A lone surrogate that slipped past validation."""
    broken = query().model_copy(update={"text": "lone \ud800"})
    with pytest.raises(Invalid, match="surrogate"):
        await system.bus.submit(broken)
    assert await system.call("KEYS", "gw:{0}:queries") == []


@pytest.mark.parametrize("change", [{"session_id": "\udfff"}, {"user_id": "\udfff"}])
async def test_no_field_of_a_question_may_be_no_unicode(
    system: System, change: dict[str, str]
) -> None:
    """Whichever it is: Invalid, not an error of Python's."""
    with pytest.raises(Invalid, match="surrogate"):
        await system.bus.submit(query().model_copy(update=change))


async def test_a_key_that_is_no_unicode_is_invalid(system: System) -> None:
    """The same for an idempotency key."""
    with pytest.raises(Invalid, match="surrogate"):
        await system.bus.submit(query(), idempotency_key="\ud800")


async def test_an_unknown_id_times_out_and_stays_unknown(system: System) -> None:
    """ResultTimeout, within the time given."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    with pytest.raises(ResultTimeout):
        await system.bus.result("0-nobody", timeout_s=0.2)
    assert 0.15 < loop.time() - started < 1.5


async def test_labels_and_channel_travel_with_the_question(system: System) -> None:
    """All that was asked arrives, stamped with the server's time."""
    seen: list[Query] = []

    async def understand(asked: Query) -> object:
        from groundwire import noop

        seen.append(asked)
        return await noop.understand(asked)

    asked = Query(text="x", session_id="s", user_id="u", channel="html", labels=("a", "b"))
    async with system.running(handlers={"understand": understand}):  # type: ignore[dict-item]
        query_id = await system.bus.submit(asked)
        await system.bus.result(query_id)
    [arrived] = seen
    assert arrived.asked_at is not None
    assert arrived == asked.model_copy(update={"query_id": query_id, "asked_at": arrived.asked_at})


class Refusing(FakeBackend):
    """A server that refuses so many connections."""

    refusals = 0

    async def connect(self, lane: int, timeout_s: float, node: Node | None = None) -> Any:
        """Refused while there are refusals left."""
        if self.refusals:
            self.refusals -= 1
            raise errors.ConnectionError("refused")
        return await super().connect(lane, timeout_s, node)


async def test_a_submit_waits_for_the_server_s_time_as_for_its_answer() -> None:
    """A client that hasn't asked for it lately asks first: a server that is away for a moment refuses no query."""
    backend = Refusing()
    async with System(backend) as system:
        await system.bus.close()
        backend.refusals = 3
        await system.bus.submit(query("first"))
        assert backend.refusals == 0
        await system.bus.close()
        backend.refusals = 3
        await system.bus.submit(query("second"))
        assert (await system.bus.status()).accepted == 2
        await system.bus.close()
        backend.refusals = 100
        with pytest.raises(Unreachable, match="refused"):
            await system.bus.submit(query("third"))
    assert backend.refusals == 95
