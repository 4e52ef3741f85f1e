"""The whole system: when it is unready, what Prometheus reads, what a person sees change."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bus import StageStatus, SystemStatus, UnreachableLane, Vitals
from groundwire.cli.live import drawn, rate
from groundwire.metrics import WorkerMetrics
from groundwire.whole import Whole

ROOT = Path(__file__).resolve().parents[2]

CALM = SystemStatus(
    stages=(
        StageStatus("understand", 1, 0, 0, 0, None, 100),
        StageStatus("retrieve", 0, 0, 0, 0, None, 100),
    ),
    outcomes={"answered": 90, "out_of_scope": 10, "rejected": 0, "failed": 0},
    accepted=100,
    open=0,
    dead=0,
)


def with_retrieve(**change: int) -> SystemStatus:
    """The same, but for its second stage."""
    return replace(CALM, stages=(CALM.stages[0], replace(CALM.stages[1], **change)))  # type: ignore[arg-type]


def text_of(whole: Whole) -> list[str]:
    """The lines that Prometheus reads."""
    return whole.text()[1].decode().splitlines()


@pytest.mark.parametrize(
    ("change", "is_unattended"),
    [
        ({}, False),
        ({"backlog": 1}, True),
        ({"pending": 1}, True),
        ({"delayed": 1}, True),
        ({"backlog": 1, "workers": 1}, False),
    ],
)
def test_a_stage_with_work_and_no_worker_makes_the_whole_unready(
    change: dict[str, int], is_unattended: bool
) -> None:
    """In readiness and in a metric; a stage without either is merely idle."""
    whole = Whole()
    whole.see(with_retrieve(**change))
    assert whole.ready() == (["retrieve has work and no worker"] if is_unattended else [])
    value = float(is_unattended)
    assert f'groundwire_stage_unattended{{stage="retrieve"}} {value}' in text_of(whole)


def test_a_server_that_is_gone_leaves_no_old_numbers() -> None:
    """What was true a while ago isn't shown as if it were now."""
    whole = Whole()
    assert whole.ready() == ["the server: not read yet"]
    whole.see(CALM)
    assert 'groundwire_queries_total{outcome="answered"} 90.0' in text_of(whole)
    whole.miss("no reply")
    assert whole.ready() == ["the server: no reply"]
    assert [line for line in text_of(whole) if line[0] != "#"] == ["groundwire_server_up 0.0"]


def test_a_lane_whose_server_is_away_makes_the_whole_unready() -> None:
    """What is watched for its growth isn't told without that lane: it would fall, and jump back."""
    whole = Whole()
    whole.see(replace(CALM, unreachable=(UnreachableLane(2, "no reply from node-2"),)))
    assert whole.ready() == ["lane 2 is unreachable: no reply from node-2"]
    text = "\n".join(text_of(whole))
    assert "groundwire_unreachable_lanes 1.0" in text
    assert "groundwire_server_up 1.0" in text
    assert "groundwire_queries_open" in text
    assert "_total" not in text
    assert "groundwire_dead_letter_records" not in text
    whole.see(CALM)
    assert whole.ready() == []
    assert "groundwire_unreachable_lanes 0.0" in text_of(whole)


def test_a_look_shows_who_is_away_and_no_pace_against_one_of_other_lanes() -> None:
    """The counts of a lane that is back are no news of this second."""
    part = replace(
        CALM, accepted=60, unreachable=(UnreachableLane(2, "no reply from node-2: silence"),)
    )
    shown = _seen(drawn(part, CALM, 1.0))
    assert "lane 2 is unreachable: no reply from node-2: silence" in shown
    assert "/s" not in shown
    assert "/s" not in _seen(drawn(CALM, part, 1.0))
    assert "60/s" in _seen(drawn(replace(part, accepted=120), part, 1.0))


def test_every_metric_is_described() -> None:
    """docs/operations.md names all that a worker and the whole export."""
    whole, page = Whole(), (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    whole.see(CALM)
    worker = WorkerMetrics("critic", lambda: [Vitals("critic", 0, "drafts", read_at=0.0)])
    text = b"".join(one.text()[1] for one in (whole, worker)).decode()
    named = re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)
    assert len(named) > 15
    assert [name for name in named if f"`{name}`" not in page] == []


def test_a_second_look_shows_how_fast_things_move() -> None:
    """Entries and results a second since the look before; the first look shows none."""
    later = with_retrieve(added=130, backlog=30)
    later = replace(later, accepted=140, outcomes=CALM.outcomes | {"answered": 95})
    first, second = _seen(drawn(CALM)), _seen(drawn(later, CALM, 2.0))
    assert "/s" not in first
    assert "15/s" in second
    assert "accepted 140 (20/s)" in second
    assert "answered 95 (2.5/s)" in second
    assert "retrieve has work and no worker: groundwire worker retrieve" in second


def _seen(what: object) -> str:
    console = Console(width=120, no_color=True)
    with console.capture() as captured:
        console.print(what)
    return captured.get()


@pytest.mark.parametrize(
    ("count", "seconds", "shown"),
    [(0, 1.0, "0/s"), (5, 2.0, "2.5/s"), (680, 2.0, "340/s"), (5, 0.0, "0/s")],
)
def test_rates_are_short(count: int, seconds: float, shown: str) -> None:
    """One decimal below ten, none above."""
    assert rate(count, seconds) == shown
