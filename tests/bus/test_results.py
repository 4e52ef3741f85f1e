import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from bus_system import NOOP, System, format_any, out_of_scope, query, url_backend
from redis import exceptions as errors

from bus import Backend, Result
from bus.keys import Keys
from bus.results import cursor_of, positions_of, read_results, streams_of
from bus.wire import Arg, Wire
from contracts import FormattedResponse, Invalid, ResultTimeout, Transient

pytest_plugins = ("bus_fixtures",)


async def take(results: AsyncIterator[Result], count: int) -> list[Result]:
    """The next so many, and the iterator closed behind them."""
    found: list[Result] = []
    async with asyncio.timeout(30):
        async for result in results:
            found.append(result)
            if len(found) == count:
                break
    await results.aclose()  # type: ignore[attr-defined]
    return found


async def test_a_result_that_is_there_already_comes_at_once(system: System) -> None:
    """From its key, whoever asks, however often."""
    async with system.running():
        first = await system.ask()
    assert await system.bus.result(first.query_id, timeout_s=0.5) == first
    assert await system.bus.result(first.query_id, timeout_s=0.5) == first


async def test_many_waiters_of_one_query_all_get_its_result(system: System) -> None:
    """One reader serves them."""
    query_id = await system.bus.submit(query())
    waiting = [asyncio.create_task(system.bus.result(query_id)) for _ in range(20)]
    async with system.running():
        found = await asyncio.gather(*waiting)
    assert {response.query_id for response in found} == {query_id}


async def test_waiters_of_many_queries_get_each_their_own(system: System) -> None:
    """Asked for before, while and after they are answered."""
    async with system.running():
        ids = await system.bus.submit_many([query(str(number)) for number in range(60)])
        found = await asyncio.gather(*(system.bus.result(query_id) for query_id in ids))
    assert [response.query_id for response in found] == ids


@pytest.mark.parametrize("junk", [b"\xff", b"{}", b""])
async def test_what_is_no_result_under_its_key_is_waited_over(system: System, junk: bytes) -> None:
    """Nobody is shown what it is: the query's own result overwrites it."""
    query_id = await system.bus.submit(query())
    await system.call("SET", system.keys.result(query_id), junk)
    with pytest.raises(ResultTimeout):
        await system.bus.result(query_id, timeout_s=0.1)
    async with system.running():
        assert (await system.bus.result(query_id)).query_id == query_id


async def test_a_wait_that_times_out_leaves_the_query_open(system: System) -> None:
    """And a later wait gets the result."""
    query_id = await system.bus.submit(query())
    with pytest.raises(ResultTimeout, match=query_id):
        await system.bus.result(query_id, timeout_s=0.1)
    assert (await system.verification()).open == 1
    async with system.running():
        assert (await system.bus.result(query_id)).query_id == query_id


async def test_a_wait_that_is_cancelled_disturbs_no_other(system: System) -> None:
    """The reader goes on for the rest."""
    query_id = await system.bus.submit(query())
    waiting = [asyncio.create_task(system.bus.result(query_id)) for _ in range(10)]
    await asyncio.sleep(0.05)
    for task in waiting[::2]:
        task.cancel()
    async with system.running():
        found = await asyncio.gather(*waiting[1::2])
    await asyncio.wait(waiting)
    assert len(found) == 5
    assert all(task.cancelled() for task in waiting[::2])


async def test_results_are_followed_from_the_beginning(system: System) -> None:
    """`after="0"`: all that are kept, each once."""
    async with system.running():
        ids = await system.bus.submit_many([query(str(number)) for number in range(30)])
        await system.settled()
    found = await take(system.bus.results(after="0"), 30)
    assert sorted(result.response.query_id for result in found) == sorted(ids)


async def test_a_cursor_resumes_behind_its_result(system: System) -> None:
    """Over several streams: nothing twice, nothing skipped."""
    async with system.running(
        "understand", "format", handlers={"understand": out_of_scope(), "format": format_any}
    ):
        await system.bus.submit_many([query(str(number)) for number in range(10)])
        await system.settled()
    async with system.running():
        await system.bus.submit_many([query(str(number)) for number in range(10)])
        await system.settled()
    everything = await take(system.bus.results(after="0"), 20)
    for at in (0, 7, 10, 18):
        rest = await take(system.bus.results(after=everything[at].cursor), 19 - at)
        assert [r.response for r in rest] == [r.response for r in everything[at + 1 :]]


async def test_results_from_now_on_leave_out_what_was_before(system: System) -> None:
    """The default; of one outcome alone where it is named."""
    async with system.running():
        await system.ask("before")
        following = asyncio.create_task(take(system.bus.results("answered"), 1))
        await asyncio.sleep(0.1)
        after = await system.ask("after")
        [result] = await following
    assert result.response == after


async def test_an_outcome_that_does_not_exist_is_invalid(system: System) -> None:
    """The message lists those that do."""
    with pytest.raises(Invalid, match="out_of_scope"):
        await take(system.bus.results("approved"), 1)


def test_a_cursor_is_read_back_as_it_was_written() -> None:
    """Stream keys hold colons, braces and dots, and no comma."""
    streams = streams_of("all", 2)
    positions = {stream: f"{number}-0" for number, stream in enumerate(streams)}
    assert len(streams) == 8
    assert positions_of(cursor_of(positions), streams) == positions
    assert positions_of("5-1", streams[:1]) == {streams[0]: "5-1"}
    assert positions_of(cursor_of({streams[0]: "5-1"}), streams[:2])[streams[1]] == "0"


async def test_the_status_shows_workers_backlog_and_outcomes(system: System) -> None:
    """What an operator asks first."""
    await system.bus.submit(query())
    before = await system.bus.status()
    assert before.open == before.accepted == 1
    assert before.idle_stages == tuple(NOOP)
    assert before.stages[0].backlog == 1
    assert before.stages[0].oldest_ms is not None
    async with system.running():
        await system.settled()
        status = await system.bus.status()
    assert status.idle_stages == ()
    assert [stage.workers for stage in status.stages] == [1] * 5
    assert [stage.backlog + stage.pending + stage.delayed for stage in status.stages] == [0] * 5
    assert status.outcomes["answered"] == 1
    assert (status.open, status.dead) == (0, 0)
    assert (await system.bus.status()).idle_stages == tuple(NOOP)


async def test_a_malformed_entry_on_a_result_stream_does_not_end_the_waiting(
    system: System,
) -> None:
    """A stranger's entry is passed over: the query's own result still comes."""
    query_id = await system.bus.submit(query())
    waiting: asyncio.Task[FormattedResponse] = asyncio.create_task(system.bus.result(query_id))
    await asyncio.sleep(0.05)
    await system.add("results.answered", "junk", b"\xff\xfe")
    await system.add("results.answered", "event", "{}")
    async with system.running():
        assert (await waiting).query_id == query_id
    await system.call("XTRIM", system.keys.of("results.answered"), "MAXLEN", 1)
    await system.settled()


async def test_verify_names_the_key_that_holds_another_type(system: System) -> None:
    """Nothing can be counted then, and it is no verdict on the bus."""
    stream = system.keys.of("drafts")
    await system.call("SET", stream, "of another type")
    with pytest.raises(Transient, match=re.escape(f"{stream} is a string; ")):
        await system.bus.verify()
    await system.call("DEL", stream)
    [lane] = await system.bus.verify()
    assert lane.holds


class Listening(Wire):
    """A connection that says what became of what it sent."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, 5.0)
        self.refused = asyncio.Event()
        self.reading = asyncio.Event()

    async def call(self, *args: Arg) -> Any:
        """Send a command, and take note."""
        if args[0] == "XREAD":
            self.reading.set()
        try:
            return await super().call(*args)
        except errors.ResponseError:
            self.refused.set()
            raise


@pytest.mark.server
@pytest.mark.parametrize("after", ["$", "0"])
async def test_a_result_stream_of_another_type_is_waited_for(
    real: System, server_url: str, after: str
) -> None:
    """As settling waits for it: whoever put the wrong value there may put it right."""
    stream = real.keys.of("results.answered")
    await real.call("SET", stream, "of another type")
    wire = Listening(url_backend(server_url))
    following = asyncio.create_task(take(read_results({0: wire}, streams_of("all", 1), after), 1))
    await asyncio.wait_for(wire.refused.wait(), 10)
    await real.call("DEL", stream)
    await asyncio.wait_for(wire.reading.wait(), 10)
    async with real.running():
        answered = await real.ask()
        [result] = await following
    await wire.close()
    assert result.response == answered


async def test_a_refusal_that_lasts_is_raised_to_who_reads_results(system: System) -> None:
    """Waiting would hide it: here a number too large for a place, elsewhere a missing right."""
    with pytest.raises(errors.ResponseError, match="Invalid stream ID"):
        await take(system.bus.results(after="9" * 20), 1)


@pytest.mark.server
@pytest.mark.parametrize("what", ["the result stream", "the result key"])
async def test_a_key_of_another_type_does_not_end_the_waiting_for_a_result(
    real: System, what: str
) -> None:
    """It times out like any wait, and goes on when the key is right again; a result key is overwritten."""
    query_id = await real.bus.submit(query())
    stream, key = real.keys.of("results.answered"), real.keys.result(query_id)
    await real.call("LPUSH", stream if what == "the result stream" else key, "of another type")
    with pytest.raises(ResultTimeout):
        await real.bus.result(query_id, timeout_s=0.2)
    await real.call("DEL", stream)
    async with real.running():
        assert (await real.bus.result(query_id)).query_id == query_id


@pytest.mark.parametrize("after", ["nonsense", "1-2-3", "-1", "gw:{0}:results.answered=x"])
async def test_a_place_that_is_none_is_the_caller_s_error(system: System, after: str) -> None:
    """Said before anything is read, with what may be passed."""
    with pytest.raises(Invalid, match="cursor"):
        await take(system.bus.results(after=after), 1)


async def test_what_reads_the_books_names_a_key_of_another_type(real: System) -> None:
    """Events and the parked set: an error that says which key, and that a later try may succeed."""
    async with real.running():
        first = await real.ask()
    keys = Keys(0)
    await real.call("DEL", keys.events)
    await real.call("SET", keys.events, "of another type")
    with pytest.raises(Transient, match="events is no stream"):
        await real.bus.trace(first.query_id)
    with pytest.raises(Transient, match="events is no stream"):
        await anext(real.bus.steps(query()))
    await real.call("DEL", keys.parked)
    await real.call("SET", keys.parked, "of another type")
    with pytest.raises(Transient, match="parked is a string"):
        await real.bus.verify()
