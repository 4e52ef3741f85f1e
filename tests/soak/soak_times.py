"""How long things take: each test here runs scaled with `make test`, and at production's length with `make soak`."""

from dataclasses import dataclass

import pytest

from bus import BusConfig


@dataclass(frozen=True)
class Times:
    """What is different between the two; a test reads every time and every count from here."""

    config: BusConfig
    wedge_limit_s: float
    """Shorter than production's 300 s also at full length: five deaths of that would take half an hour."""
    deadline_s: float
    outage_s: float
    """How long the server is frozen, or gone."""
    idle_s: float
    idle_rounds: int
    queries: int
    leak_bytes: int
    """By how much memory may have grown after that many queries."""
    open_mark: int
    restarts: int


SCALED = Times(
    config=BusConfig(
        alive_ttl_s=1.0,
        tick_s=0.1,
        lease_s=1.5,
        block_s=0.5,
        retry_base_s=0.05,
        retry_cap_s=0.5,
        reply_timeout_s=1.5,
        deliveries=3,
    ),
    wedge_limit_s=2.0,
    deadline_s=0.5,
    outage_s=2.5,
    idle_s=1.2,
    idle_rounds=3,
    queries=1_000,
    leak_bytes=500_000,
    open_mark=100,
    restarts=8,
)
"""Production's proportions: an outage lasts several liveness TTLs, a lease is longer than a TTL."""

FULL = Times(
    config=BusConfig(),
    wedge_limit_s=60.0,
    deadline_s=600.0,
    outage_s=20.0,
    idle_s=60.0,
    idle_rounds=1,
    queries=10_000,
    leak_bytes=5_000_000,
    open_mark=10_000,
    restarts=50,
)
"""Production's, as they are: lease 60 s, liveness 3 s, five deliveries, a deadline of ten minutes."""

full_length = (pytest.mark.soak, pytest.mark.timeout(1_200))
both_lengths = pytest.mark.parametrize(
    "times",
    [
        pytest.param(SCALED, id="scaled"),
        pytest.param(FULL, id="full", marks=full_length),
    ],
)
"""Runs a test twice, under `[scaled]` and `[full]`; the latter is deselected unless asked for."""
