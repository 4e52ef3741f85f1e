"""Kill -9 of workers at random moments: every accepted query still gets exactly one result."""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress

import pytest

from bus import Bus
from contracts import FormattedResponse
from groundwire.supervisor import WorkerInfo
from groundwire.system import System, running_system

from .machine import HANDBOOK, STAGES, Home, is_settled, query, results_so_far, soon

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

SEEDS = 20
IN_FLIGHT = 100
QUESTIONS = (
    ("Can I get a refund on an annual plan?", "approved"),
    ("How do I cancel my plan?", "approved"),
    ("What's the weather like today?", "out_of_scope"),
)


def killing(home: Home, *, counts: int) -> AbstractAsyncContextManager[System]:
    """A system that notices deaths quickly, with so many workers a stage."""
    settings = home.settings.model_copy(update={"alive_ttl_s": 1.0, "grace_s": 5.0})
    return running_system(settings, docs=HANDBOOK, counts=dict.fromkeys(STAGES, counts))


async def kill_some(system: System, dice: random.Random, times: int) -> Counter[str]:
    """Kill -9 random workers at random moments; of each stage, how many while queries were open."""
    killed: Counter[str] = Counter()
    while times:
        await asyncio.sleep(dice.uniform(0.0, 0.1))  # the random moment, not a wait for anything
        victim = dice.choice(system.supervisor.workers())
        if victim.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(victim.pid, signal.SIGKILL)
                times -= 1
                killed[victim.stage] += not await is_settled(system.bus)
    return killed


async def submit_steadily(bus: Bus, seed: int) -> dict[str, str]:
    """A hundred questions, in twenties, as fast as they are taken: their ids and statuses due."""
    due: dict[str, str] = {}
    asked = [QUESTIONS[number % len(QUESTIONS)] for number in range(IN_FLIGHT)]
    for start in range(0, IN_FLIGHT, 20):
        part = asked[start : start + 20]
        ids = await bus.submit_many([query(text, f"seed {seed}") for text, _ in part])
        due |= {query_id: status for query_id, (_, status) in zip(ids, part, strict=True)}
    return due


def assert_one_result_each(due: dict[str, str], results: Sequence[FormattedResponse]) -> None:
    """Every id once, none more, and with the answer that it would have had in peace."""
    counted = Counter(result.query_id for result in results)
    assert counted == Counter(dict.fromkeys(due, 1))
    assert {result.query_id: result.status for result in results} == due


async def workers_are_back(system: System, counts: int) -> bool:
    """Whether every place has a living process that the server has heard of."""
    alive = {stage.stage: stage.workers for stage in (await system.bus.status()).stages}
    workers: list[WorkerInfo] = system.supervisor.workers()
    return all(worker.pid for worker in workers) and min(alive.values()) >= counts


@pytest.mark.parametrize("counts", [1, 2])
async def test_killed_workers_lose_no_query_and_answer_none_twice(home: Home, counts: int) -> None:
    """Ten seeds with one worker a stage, ten with two: one result each, `verify` exact throughout."""
    async with killing(home, counts=counts) as system:
        cursor, killed = "0", Counter[str]()
        for seed in range(counts, SEEDS + 1, 2):
            dice = random.Random(seed)
            submitting = asyncio.create_task(submit_steadily(system.bus, seed))
            killed += await kill_some(system, dice, times=dice.randint(1, 3))
            due = await submitting
            while not await is_settled(system.bus):
                assert (await system.bus.verify())[0].holds
                await asyncio.sleep(0.02)
            cursor, results = await results_so_far(system.bus, cursor, IN_FLIGHT)
            assert_one_result_each(due, results)
        await soon(lambda: workers_are_back(system, counts), "all workers")
        verified = (await system.bus.verify())[0]
        status = await system.bus.status()
    assert killed.total() >= SEEDS / 2, killed
    assert len(killed) >= 3
    assert verified.holds
    assert verified.accepted == IN_FLIGHT * len(range(counts, SEEDS + 1, 2))
    assert (verified.open, verified.working, verified.delayed, verified.parked) == (0, 0, 0, 0)
    assert (status.dead, status.outcomes["failed"], verified.outcomes["failed"]) == (0, 0, 0)
