"""What a worker tells whoever watches it, and how it stands when somebody asks."""

import asyncio
from typing import Any

from bus_system import NOOP, Noted, System, holds, query, ready

from contracts import Permanent, Transient, Value

pytest_plugins = ("bus_fixtures",)


async def test_every_settled_delivery_is_told_with_what_became_of_it(system: System) -> None:
    """Emitted, retried and dead, with the reason; the last stage tells how the query ended."""
    tried: set[str] = set()

    async def retrieve(intent: Any) -> Value:
        text = intent.query.text
        if text == "never":
            raise Permanent("no")
        if text == "again" and text not in tried:
            tried.add(text)
            raise Transient("once more")
        return await NOOP["retrieve"](intent)

    noted, last = Noted(), Noted()
    async with system.running("understand", "synthesize", "critic"):
        workers = [
            system.start("retrieve", retrieve, watch=noted),
            system.start("format", watch=last),
        ]
        for text in ("once", "again", "never"):
            await system.ask(text)
        for running in workers:
            await running.stop()
    told = [hop.became[:3] for hop in noted.hops]
    assert sorted(told) == [
        ("dead", "permanent", "failed"),
        ("emitted", "", ""),
        ("emitted", "", ""),
        ("retried", "", ""),
    ]
    assert {hop.became[:3] for hop in last.hops} == {("answered", "", "answered")}
    assert all(hop.waited_s >= 0 and hop.handled_s >= 0 for hop in noted.hops)


async def test_a_worker_knows_how_its_stage_stands(system: System) -> None:
    """Backlog, what is in hand, the age of the oldest and the open queries, as of its last tick."""
    let_go = asyncio.Event()

    async def understand(asked: Any) -> Value:
        await let_go.wait()
        return await NOOP["understand"](asked)

    running = system.start("understand", understand, watch=Noted())
    await ready(running)
    for _ in range(3):
        await system.bus.submit(query())
    (vitals,) = running.worker.vitals
    await holds(lambda: vitals.backlog == vitals.in_flight == vitals.open == 3)
    assert vitals.has_group
    assert 0 <= vitals.oldest_s < 30
    let_go.set()
    await holds(lambda: vitals.backlog == vitals.in_flight == 0)
    assert vitals.open == 3
    assert vitals.oldest_s == 0
    assert running.worker.loop_age_s < 5
    await running.stop()


async def test_an_unwatched_worker_asks_for_no_numbers(system: System) -> None:
    """Whoever doesn't measure doesn't pay: the tick leaves out what only a watch wants."""
    running = system.start("understand")
    await ready(running)
    await system.bus.submit(query())
    (vitals,) = running.worker.vitals
    await holds(lambda: vitals.has_group)
    assert (vitals.backlog, vitals.open) == (0, 0)
    await running.stop()
