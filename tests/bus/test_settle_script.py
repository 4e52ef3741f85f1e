import pytest
from bus_system import System, soon
from desk import Desk

pytest_plugins = ("bus_fixtures",)


@pytest.fixture
async def desk(system: System) -> Desk:
    """At the first stage."""
    return await Desk(system).open()


@pytest.fixture
async def last(system: System) -> Desk:
    """At the last stage."""
    return await Desk(system, "format").open()


async def test_an_emit_moves_the_message_and_acknowledges_in_one_step(
    system: System, desk: Desk
) -> None:
    """Output, XACK, XDEL, event: all there; open and exact."""
    [delivery] = await desk.deliver()
    assert await desk.settle(await desk.emit(delivery)) == ["OK"]
    assert await system.pending("understand") == 0
    assert (await system.backlog("queries"), await system.backlog("intents")) == (0, 1)
    assert await system.call("XLEN", system.keys.events) == 1
    found = await system.verification()
    assert found.holds
    assert found.open == 1


async def test_the_same_call_again_is_gone_and_adds_nothing(system: System, desk: Desk) -> None:
    """A lost reply is repeated: one output."""
    deliveries = await desk.deliver(3)
    settlements = [await desk.emit(delivery) for delivery in deliveries]
    assert await desk.settle(*settlements) == ["OK"] * 3
    assert await desk.settle(*settlements) == ["GONE"] * 3
    assert await system.backlog("intents") == 3
    assert (await system.verification()).holds


async def test_a_result_again_is_gone_and_adds_nothing(system: System, last: Desk) -> None:
    """One result, one count, whatever is repeated."""
    [delivery] = await last.deliver()
    settlement = await last.emit(delivery)
    assert await last.settle(settlement) == ["OK"]
    assert await last.settle(settlement) == ["GONE"]
    found = await system.settled()
    assert found.outcomes["answered"] == 1


async def test_an_entry_twice_in_one_batch_has_one_output(system: System, desk: Desk) -> None:
    """The second reads GONE."""
    [delivery] = await desk.deliver()
    settlement = await desk.emit(delivery)
    assert await desk.settle(settlement, settlement) == ["OK", "GONE"]
    assert await system.backlog("intents") == 1


async def test_an_entry_of_a_recreated_group_is_not_pending(system: System, desk: Desk) -> None:
    """It will be delivered again, so it is dropped here."""
    [delivery] = await desk.deliver()
    settlement = await desk.emit(delivery)
    await system.call("XGROUP", "DESTROY", desk.stream, "understand")
    assert await desk.settle(settlement) == ["NOT_PENDING"]
    await system.call("XGROUP", "CREATE", desk.stream, "understand", "0")
    assert await desk.settle(settlement) == ["NOT_PENDING"]
    [again] = await desk.read()
    assert again.id == delivery.id
    assert await desk.settle(await desk.emit(again)) == ["OK"]
    assert await system.backlog("intents") == 1
    assert (await system.verification()).holds


async def test_an_emit_is_accepted_from_a_former_owner(system: System, desk: Desk) -> None:
    """Whoever finishes first, while the entry is pending; the other reads GONE."""
    [delivery] = await desk.deliver()
    other = Desk(system, consumer="other")
    await system.call("XCLAIM", desk.stream, "understand", "other", 0, delivery.id)
    assert await desk.settle(await desk.emit(delivery)) == ["OK"]
    assert await other.settle(await other.emit(delivery)) == ["GONE"]
    assert await system.backlog("intents") == 1
    assert (await system.verification()).holds


@pytest.mark.parametrize("kind", ["retry", "bury", "park"])
async def test_a_former_owner_is_fenced(system: System, desk: Desk, kind: str) -> None:
    """It may not take the entry from under its new owner: nothing is written."""
    [delivery] = await desk.deliver()
    other = Desk(system, consumer="other")
    await system.call("XCLAIM", desk.stream, "understand", "other", 0, delivery.id)
    settlements = {
        "retry": desk.retry(delivery),
        "bury": desk.bury(delivery),
        "park": desk.park(delivery),
    }
    assert await desk.settle(settlements[kind]) == ["FENCED"]
    assert await system.deliveries("understand") == {delivery.id: ("other", 2)}
    assert await other.settle(await other.emit(delivery)) == ["OK"]
    found = await system.verification()
    assert found.holds
    assert found.delayed == found.parked == found.outcomes["failed"] == 0


async def test_a_second_result_of_a_query_is_closed(system: System, last: Desk) -> None:
    """Only the script that closes the query writes a result."""
    [delivery] = await last.deliver()
    assert delivery.raw is not None
    await system.add("verdicts", "event", delivery.raw)
    [double] = await last.read()
    assert await last.settle(await last.emit(delivery), await last.emit(double)) == ["OK", "CLOSED"]
    found = await system.settled()
    assert (found.outcomes["answered"], found.dropped) == (1, 1)


async def test_a_dead_letter_of_an_answered_query_is_closed(system: System, last: Desk) -> None:
    """An answer is not followed by a failure."""
    [delivery] = await last.deliver()
    assert delivery.raw is not None
    await system.add("verdicts", "event", delivery.raw)
    [double] = await last.read()
    assert await last.settle(await last.emit(delivery)) == ["OK"]
    assert await last.settle(last.bury(double)) == ["CLOSED"]
    found = await system.settled()
    assert found.outcomes["failed"] == 0
    assert await system.dead() == []


async def test_a_dead_letter_writes_result_record_and_bytes_in_one_step(
    system: System, desk: Desk
) -> None:
    """The asker's result, the operator's record, the raw bytes under a key of their own."""
    [delivery] = await desk.deliver()
    assert await desk.settle(desk.bury(delivery)) == ["OK"]
    [record] = await system.dead()
    assert (record.reason, record.stage, record.attempts) == ("permanent", "understand", 1)
    assert await system.call("GET", record.raw_key) == delivery.raw
    assert 0 < await system.call("PTTL", record.raw_key) <= system.config.raw_ttl_s * 1000
    [failed] = await system.results("failed")
    assert failed.display_text == "Sorry."
    found = await system.settled()
    assert found.outcomes["failed"] == 1


async def test_a_stranger_is_counted_in_and_out(system: System, desk: Desk) -> None:
    """A dead letter that nobody submitted keeps the conservation law."""
    [delivery] = await desk.deliver()
    assert delivery.head is not None
    await system.call("ZREM", system.keys.open, delivery.head.subject)
    await system.call("HINCRBY", system.keys.counters, "accepted", -1)
    assert await desk.settle(desk.bury(delivery, is_stranger=True)) == ["OK"]
    found = await system.settled()
    assert (found.accepted, found.outcomes["failed"]) == (1, 1)
    assert await system.counter("strangers") == 1


async def test_a_retry_lies_beside_the_stream_until_it_is_due(system: System, desk: Desk) -> None:
    """Acknowledged and still open; the tick of any worker brings it back with its attempt."""
    [delivery] = await desk.deliver()
    assert await desk.settle(desk.retry(delivery, delay_ms=30)) == ["OK"]
    found = await system.verification()
    assert found.holds
    assert (found.delayed, found.working) == (1, 0)
    names = [desk.stream, system.keys.delayed("queries"), system.keys.delayed_body("queries")]
    names.append(system.keys.open)

    async def due() -> bool:
        await system.script("tick", names, ["understand", "me", 10])
        return await system.backlog("queries") == 1

    await soon(due, why="due")
    [again] = await desk.read()
    assert (again.attempt, again.raw) == (2, delivery.raw)
    found = await system.verification()
    assert found.holds
    assert found.delayed == 0


async def test_a_parked_message_stays_open_under_its_version(system: System, desk: Desk) -> None:
    """On `<stream>:v2`, where a worker that knows it reads; counted, and named in `parked`."""
    [delivery] = await desk.deliver()
    assert await desk.settle(desk.park(delivery)) == ["OK"]
    assert await system.backlog("queries:v2") == 1
    found = await system.verification()
    assert found.holds
    assert (found.open, found.parked) == (1, 1)


async def test_a_batch_settles_each_on_its_own(system: System, desk: Desk) -> None:
    """Emit, retry, dead letter and park in one call, one of them refused: the others are done."""
    first, second, third, fourth = await desk.deliver(4)
    await system.call("SET", system.keys.of("intents"), "not a stream")
    batch = [await desk.emit(first), desk.retry(second), desk.bury(third), desk.park(fourth)]
    refused, *others = await desk.settle(*batch)
    assert refused.startswith("REFUSED WRONGTYPE")
    assert others == ["OK", "OK", "OK"]
    assert list(await system.deliveries("understand")) == [first.id]
    await system.call("DEL", system.keys.of("intents"))
    assert await desk.settle(*batch) == ["OK", "GONE", "GONE", "GONE"]
    found = await system.verification()
    assert found.holds
    assert (found.working, found.delayed, found.parked) == (1, 1, 1)
    assert found.outcomes["failed"] == 1


async def test_a_hundred_and_twenty_eight_settle_in_one_call(system: System, desk: Desk) -> None:
    """The most that a batch may hold, of a hand that holds more, in any order."""
    deliveries = await desk.deliver(200)
    batch = [await desk.emit(delivery) for delivery in deliveries[170:42:-1]]
    assert await desk.settle(*batch) == ["OK"] * 128
    assert await system.pending("understand") == 72
    assert (await system.verification()).holds


async def test_a_deleted_entry_is_gone(system: System, desk: Desk) -> None:
    """An entry that an operator deleted gives no output and no error."""
    [delivery] = await desk.deliver()
    await system.call("XDEL", desk.stream, delivery.id)
    await system.call("XACK", desk.stream, "understand", delivery.id)
    assert await desk.settle(await desk.emit(delivery)) == ["GONE"]
    assert await system.backlog("intents") == 0


async def test_result_streams_are_trimmed_and_work_streams_never(
    system: System, last: Desk
) -> None:
    """What is kept is bounded approximately; the query's result key does not depend on it."""
    deliveries = await last.deliver(3)
    assert await last.settle(*[await last.emit(delivery) for delivery in deliveries]) == ["OK"] * 3
    for delivery in deliveries:
        assert delivery.head is not None
        response = await system.bus.result(delivery.head.subject, timeout_s=1)
        assert response.query_id == delivery.head.subject
