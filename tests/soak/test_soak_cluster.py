"""A cluster under attack for minutes: primaries killed and frozen, failovers, slots on the move."""

import pytest

from groundwire.chaos.arena import Setup
from groundwire.chaos.campaign import Campaign, run_seed
from groundwire.chaos.faults import FAULTS

pytestmark = [pytest.mark.server, pytest.mark.soak, pytest.mark.timeout(600)]

_MINUTES = 2.0


async def test_a_cluster_under_attack_for_minutes_loses_and_repeats_nothing() -> None:
    """Every fault that only a cluster has, again and again; the short version is in tests/bus/test_failover.py."""
    chosen = [fault for fault in FAULTS.values() if fault.needs == "own cluster"]
    campaign = Campaign(Setup(lanes=4, clustered=True), chosen, _MINUTES, queries=500)
    report = await run_seed(campaign, 1, lambda progress: None)
    assert report.holds, report.wrong
    assert {strike.fault for strike in report.faults} == {fault.name for fault in chosen}
    print(report.as_json()["recovery_s"])
