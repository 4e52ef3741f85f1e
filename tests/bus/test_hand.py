import asyncio

import pytest

from bus.config import BusConfig
from bus.delivery import Delivery, fields_of, order_of
from bus.gate import Gate
from bus.hand import Hand

CONFIG = BusConfig(concurrency=4, prefetch=20, prefetch_s=0.1)


def delivery(number: int = 1) -> Delivery:
    return Delivery(f"{number}-0", {b"event": b"{}"}, deliveries=1)


def test_before_the_pace_is_known_the_window_is_the_concurrency() -> None:
    """Nobody hoards work that he may be slow at."""
    assert Hand(CONFIG).window == 4


@pytest.mark.parametrize(
    ("handled_s", "window"), [(1.0, 4), (0.1, 8), (0.05, 12), (0.001, 24), (0.0, 24)]
)
def test_the_window_is_what_is_done_within_the_prefetch_time(handled_s: float, window: int) -> None:
    """Fast handlers prefetch up to the limit, slow ones nothing."""
    hand = Hand(CONFIG)
    hand.pace(handled_s)
    assert hand.window == window


def test_a_handler_that_turns_slow_narrows_the_window() -> None:
    """The pace follows the recent past."""
    hand = Hand(CONFIG)
    hand.pace(0.001)
    for _ in range(200):
        hand.pace(2.0)
    assert hand.window == 4


def test_a_delivery_is_taken_once() -> None:
    """A reply that comes late, of what a reconciliation brought already, runs nothing twice."""
    hand = Hand(CONFIG)
    assert hand.take(delivery())
    assert not hand.take(delivery())
    assert len(hand.inbox) == 1
    assert hand.room == 3


def test_what_is_held_takes_room_until_it_is_dropped() -> None:
    """Started or not: the window bounds what a crash leaves behind."""
    hand = Hand(CONFIG)
    hand.take(delivery())
    hand.inbox.clear()
    assert hand.room == 3
    hand.drop(delivery())
    hand.drop(delivery())
    assert hand.room == 4


def test_emptying_gives_back_what_has_not_started_and_keeps_the_rest() -> None:
    """A drain returns the inbox alone."""
    hand = Hand(CONFIG)
    for number in range(1, 4):
        hand.take(delivery(number))
    started = hand.inbox.popleft()
    assert [item.id for item in hand.empty_inbox()] == ["2-0", "3-0"]
    assert list(hand.held) == [started.id]


async def test_a_reader_waits_for_a_quarter_of_the_window() -> None:
    """A read for one entry at a time is not worth its round trip."""
    hand = Hand(CONFIG)
    hand.pace(0.001)
    for number in range(1, 25):
        hand.take(delivery(number))
    waiting = asyncio.create_task(hand.wait_for_room())
    for number in range(1, 6):
        hand.drop(delivery(number))
        await asyncio.sleep(0)
    assert not waiting.done()
    hand.drop(delivery(6))
    assert await waiting == 6


async def test_waking_ends_the_wait_for_room() -> None:
    """A drain isn't held up by a full hand."""
    hand = Hand(CONFIG)
    for number in range(1, 5):
        hand.take(delivery(number))
    waiting = asyncio.create_task(hand.wait_for_room())
    await asyncio.sleep(0)
    hand.wake()
    assert await waiting >= 1


async def test_next_waits_for_a_delivery_and_keeps_their_order() -> None:
    """First in, first started."""
    hand = Hand(CONFIG)
    waiting = asyncio.create_task(hand.next())
    await asyncio.sleep(0)
    hand.take(delivery(1))
    hand.take(delivery(2))
    assert [(await waiting).id, (await hand.next()).id] == ["1-0", "2-0"]


@pytest.mark.parametrize(
    ("written", "attempt"),
    [(b"1", 1), (b"4", 4), (b"", 1), (b"-1", 1), (b"1.5", 1), (b"x", 1), (b"9" * 5000, 1)],
)
def test_an_attempt_that_is_no_number_counts_as_the_first(written: bytes, attempt: int) -> None:
    """Anyone may write the field; no one may crash the worker by it."""
    assert Delivery("1-0", {b"attempt": written}, 1).attempt == attempt


def test_entry_ids_are_ordered_as_numbers() -> None:
    """`9-0` comes before `10-0`, and `1-9` before `1-10`."""
    ids = ["10-0", "9-0", "1-10", "1-9"]
    assert sorted(ids, key=order_of) == ["1-9", "1-10", "9-0", "10-0"]


def test_an_entry_without_fields_is_an_empty_mapping() -> None:
    """A deleted entry's body is none."""
    assert fields_of(None) == {}
    assert fields_of([b"a", b"1", b"b", b""]) == {b"a": b"1", b"b": b""}


async def test_alone_waits_for_all_others_and_keeps_them_out() -> None:
    """While a suspect runs, nothing else of its worker does."""
    gate, order = Gate(), []
    await gate.enter()

    async def suspect() -> None:
        async with gate.alone():
            order.append("alone")
            await asyncio.sleep(0)
            order.append("alone ends")

    async def other() -> None:
        await gate.enter()
        order.append("other")
        gate.leave()

    async with asyncio.TaskGroup() as group:
        group.create_task(suspect())
        await asyncio.sleep(0)
        group.create_task(other())
        await asyncio.sleep(0)
        assert order == []
        gate.leave()
    assert order == ["alone", "alone ends", "other"]


async def test_two_suspects_run_one_after_the_other() -> None:
    """Neither can be charged for the other's crash."""
    gate, inside, most = Gate(), 0, 0

    async def suspect() -> None:
        nonlocal inside, most
        async with gate.alone():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(suspect() for _ in range(5)))
    assert most == 1


async def test_a_suspect_cancelled_while_it_waits_opens_the_gate_again() -> None:
    """A shutdown leaves nobody locked out."""
    gate = Gate()
    await gate.enter()

    async def suspect() -> None:
        async with gate.alone():
            raise AssertionError("never inside")

    waiting = asyncio.create_task(suspect())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(1):
        await gate.enter()


async def test_no_more_than_the_limit_are_inside_and_who_waited_longest_is_next() -> None:
    """A lane that comes again at once waits behind one that waits already."""
    gate, order = Gate(2), []

    async def lane(name: str, times: int) -> None:
        for _ in range(times):
            await gate.enter()
            order.append(name)
            await asyncio.sleep(0)
            gate.leave()

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(lane("busy", 10))
        group.create_task(lane("calm", 3))
    assert "calm" in order[:6]
    assert [place for place, name in enumerate(order) if name == "calm"][-1] < 20


async def test_one_that_is_cancelled_as_it_is_let_in_takes_no_place() -> None:
    """Nor does one that is cancelled while it waits."""
    gate = Gate(1)
    await gate.enter()
    first, second = (asyncio.create_task(gate.enter()) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    gate.leave()  # lets the first in
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    async with asyncio.timeout(1):
        await gate.enter()
