"""The limits of the bus, as one frozen value whose defaults are those of production."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BusConfig:
    """Seconds unless the name says otherwise."""

    lanes: int = 1
    attempts: int = 5
    deliveries: int = 5
    deadline_s: float = 600.0
    retry_base_s: float = 0.5
    retry_cap_s: float = 30.0
    alive_ttl_s: float = 3.0
    tick_s: float = 0.25
    lease_s: float = 60.0
    grace_s: float = 10.0
    wedge_limit_s: float = 300.0
    block_s: float = 2.0
    reply_timeout_s: float = 5.0
    result_ttl_s: float = 3_600.0
    idempotency_ttl_s: float = 86_400.0
    raw_ttl_s: float = 7 * 86_400.0
    durable_replicas: int = 1
    """Confirmations that a durable submit waits for, where a replica may take over; 0: the disk's."""
    open_mark: int = 10_000
    backlog_mark: int = 1_000
    concurrency: int = 8
    prefetch: int = 248
    prefetch_s: float = 0.1
    results_kept: int = 100_000
    events_kept: int = 100_000
    dead_kept: int = 10_000
    blob_bytes: int = 256 << 10
    max_payload_bytes: int = 16 << 20
    settle_entries: int = 128
    settle_bytes: int = 1 << 20

    @property
    def beat_s(self) -> float:
        """How often liveness is renewed: four times per TTL."""
        return self.alive_ttl_s / 4
