"""Chaos on a cluster of its own: the faults that only a cluster has, the same report."""

import json

import pytest

from bus import Bus, UrlBackend
from groundwire.chaos.arena import CONFIG, Setup
from groundwire.chaos.campaign import Campaign
from groundwire.chaos.faults import FAULTS
from groundwire.chaos.site import Guest, open_site
from groundwire.cli.app import run
from groundwire.embedded.several import TemporarySentinels

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

CLUSTER = {name for name, fault in FAULTS.items() if fault.needs == "own cluster"}


def test_primaries_die_and_slots_move_and_nothing_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In real processes, workers among the dead; exit code 0."""
    chosen = "primary-kill,reshard"
    command = ("chaos", "--cluster", "--faults", chosen, "--queries", "60", "--workers", "1")
    assert run((*command, "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["lost"], told["duplicates"], told["verify"]) == (0, 0, True)
    assert told["left_out"] == []
    assert told["recovery_s"]["primary-kill"]["times"] == 1
    assert len(told["runs"][0]["verification"]) == 4


async def test_a_sentinel_set_may_be_a_guest(sentinels: TemporarySentinels) -> None:
    """It is looked at, used, and left empty."""
    sentinels.flush()
    guest = Guest(sentinels.url)
    async with open_site(guest, CONFIG) as site, Bus(UrlBackend(site.url), CONFIG) as bus:
        assert [lane.holds for lane in await bus.verify()] == [True]
        assert sentinels.primary.ask_all("KEYS", "gw:*")
    assert sentinels.primary.ask_all("KEYS", "gw:*") == []


def test_each_kind_of_server_has_its_faults() -> None:
    """Those of the network need one server, those of a cluster one."""
    every = tuple(FAULTS.values())
    left_out = {
        "one": set(Campaign(Setup(), every).left_out),
        "cluster": set(Campaign(Setup(clustered=True), every).left_out),
        "guest": set(Campaign(Setup(guest=Guest("redis://h")), every).left_out),
        "guests": set(Campaign(Setup(guest=Guest("redis+cluster://h")), every).left_out),
    }
    own, network = {"server-kill", "server-freeze", "memory"}, {"delay", "cut", "refuse"}
    assert left_out["one"] == CLUSTER
    assert left_out["cluster"] >= own | network
    assert left_out["cluster"].isdisjoint(CLUSTER)
    assert left_out["guest"] == own | CLUSTER
    assert left_out["guests"] >= own | CLUSTER | network


@pytest.mark.parametrize(
    "wrong",
    [
        ("--cluster", "--url", "redis://h"),
        ("--faults", "failover"),
        ("--cluster", "--faults", "cut"),
    ],
)
def test_faults_that_make_no_sense_there_are_refused(wrong: tuple[str, ...]) -> None:
    """Rather than run without them."""
    assert run(("chaos", *wrong)) == 2
