"""Whole runs: a system under every fault keeps its promise."""

import pytest

from groundwire.chaos.arena import CONFIG, Setup
from groundwire.chaos.campaign import Campaign, Progress, run_seed
from groundwire.chaos.fault_handlers import QUEUED
from groundwire.chaos.faults import faults_named

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

CROWDED = 3406
"""A seed whose faults mostly overlap, and so are over soon."""
RETRIEVE, FORMAT = 2, 6
"""Seeds that strike at this stage, where the deadline is the only fault."""


@pytest.mark.slow
async def test_nothing_is_lost_or_repeated_under_all_faults() -> None:
    """The promise of the bus, under everything this package knows."""
    seen: list[Progress] = []
    campaign = Campaign(queries=300)
    report = await run_seed(campaign, CROWDED, seen.append)
    assert report.wrong == {}
    assert report.verified, report.verification
    assert report.account.accepted >= 300
    assert sorted(one.fault for one in report.faults) == sorted(one.name for one in campaign.faults)
    assert len(report.recoveries) == len(campaign.faults)
    assert {fault for one in seen for fault in one.fault.split(", ")} > {"burst", "server-freeze"}


async def test_a_burst_over_the_open_mark_is_refused_and_not_lost() -> None:
    report = await run_seed(
        Campaign(chosen=faults_named("burst"), queries=1), 1, lambda progress: None
    )
    assert report.refusals > 0
    assert report.holds, report.wrong


async def test_a_poison_fails_and_its_neighbours_are_answered() -> None:
    """Also where they were in hand together each time it struck."""
    report = await run_seed(
        Campaign(chosen=faults_named("poison"), queries=1), 1, lambda progress: None
    )
    assert report.wrong == {}
    assert report.verification[0].outcomes["failed"] == 1
    [death] = report.deaths.values()
    assert death.reason == "deliveries"


@pytest.mark.parametrize(("seed", "after"), [(RETRIEVE, {"synthesize"}), (FORMAT, set())])
async def test_deadlines_pass_in_a_queue_and_while_a_handler_runs(
    seed: int, after: set[str]
) -> None:
    """In the queue they end before the slow stage, in its handler behind it: failed there, or answered late."""
    chosen = faults_named("deadline")
    report = await run_seed(Campaign(chosen=chosen, queries=1), seed, lambda progress: None)
    assert report.holds, report.wrong
    [strike] = report.faults
    assert {death.reason for death in report.deaths.values()} == {"deadline"}
    assert {death.stage for death in report.deaths.values()} >= {strike.stage} | after
    hasty = CONFIG.concurrency * Setup().workers + QUEUED
    failed = report.verification[0].outcomes["failed"]
    assert failed == hasty if after else 0 < failed < hasty


async def test_deadlines_pass_and_their_dead_letters_are_replayed_on_two_lanes() -> None:
    """Failed, then answered: one more result for each replay, and no more."""
    chosen = faults_named("deadline,replay,bare,junk,newer")
    report = await run_seed(Campaign(Setup(lanes=2), chosen, queries=1), 1, lambda progress: None)
    assert report.holds, report.wrong
    assert report.account.replayed > 0
    assert len(report.verification) == 2
    assert {death.reason for death in report.deaths.values()} >= {"deadline", "undecodable"}
