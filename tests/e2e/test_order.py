"""Workers that start after the questions, in any order, or die alone: nothing is skipped."""

import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from .machine import STAGES, START_S, add, is_settled, query, results_so_far, soon
from .parts import server_and_corpus, stage_status, workers

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]


async def test_workers_that_start_after_the_questions_skip_none(tmp_path: Path) -> None:
    """Thirty submitted, two bare: workers come one after the other, in any order but the flow's."""
    order = list(STAGES)
    random.Random(2).shuffle(order)
    assert order != list(STAGES)
    with server_and_corpus(tmp_path) as home, workers(home) as start, home.redis() as server:
        async with home.connect() as bus:
            asked = [query("Can I get a refund on an annual plan?", f"s{n}") for n in range(30)]
            due = Counter(await bus.submit_many(asked))
            for name in ("bare.1", "bare.2"):
                add(server, "gw:{0}:queries", {"text": "How do I cancel?", "query_id": name})
                due[name] += 1
            for stage in order:
                process = start(stage)

                async def lives(stage: str = stage) -> bool:
                    return (await stage_status(bus, stage)).workers == 1

                await soon(lives, f"a {stage} worker", START_S)
                assert process.poll() is None
            _, results = await results_so_far(bus, "0", len(due))
            await soon(lambda: is_settled(bus), "no query is open")
            assert (await bus.verify())[0].holds
    assert Counter(result.query_id for result in results) == due
    assert {result.status for result in results} == {"approved"}


async def test_the_work_of_a_stage_s_only_worker_is_done_by_the_next(tmp_path: Path) -> None:
    """Kill -9 with entries in its hand, no supervisor to tell, nothing more published: all answered."""
    with server_and_corpus(tmp_path) as home, workers(home) as start:
        first = start("understand")
        start("format")
        async with home.connect() as bus:

            async def both_live() -> bool:
                return (await bus.status()).idle_stages == ("retrieve", "synthesize", "critic")

            await soon(both_live, "the two workers", START_S)
            first.send_signal(signal.SIGSTOP)
            asked = [query("What's the weather like today?") for _ in range(5)]
            due = await bus.submit_many(asked)

            async def are_in_its_hand() -> bool:
                return (await stage_status(bus, "understand")).pending > 0

            await soon(are_in_its_hand, "pending")
            first.kill()
            start("understand")
            _, results = await results_so_far(bus, "0", len(due))
            assert (await bus.verify())[0].holds
    assert Counter(result.query_id for result in results) == Counter(due)
    assert {result.status for result in results} == {"out_of_scope"}
