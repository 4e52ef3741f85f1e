"""Every key name there is. All keys of a query share one hash tag, so one slot of a cluster."""

import hashlib
from dataclasses import dataclass

LANES = "gw:{0}:lanes"
"""The number of lanes, stored at first start."""


def lane_of_key(key: str) -> int:
    """The lane of any key of ours: its hash tag."""
    return int(key[key.index("{") + 1 : key.index("}")])


@dataclass(frozen=True)
class Keys:
    """The keys of one lane."""

    lane: int

    def of(self, name: str) -> str:
        """A stream or singleton of the lane by its plain name: `queries`, `events`, `open`."""
        return f"gw:{{{self.lane}}}:{name}"

    @property
    def open(self) -> str:
        """Sorted set: query_id → deadline, ms of server time."""
        return self.of("open")

    @property
    def counters(self) -> str:
        """Hash: what was accepted, replayed, answered … since the beginning."""
        return self.of("counters")

    @property
    def events(self) -> str:
        """Stream: one entry for each settle."""
        return self.of("events")

    @property
    def dead(self) -> str:
        """Stream: one record for each dead letter, without its text."""
        return self.of("dead")

    @property
    def replaying(self) -> str:
        """Hash: query_id → stream entry of the result that its replay will supersede."""
        return self.of("replaying")

    @property
    def parked(self) -> str:
        """Set: the names of parked streams (`intents:v2`)."""
        return self.of("parked")

    def delayed(self, stream: str) -> str:
        """Sorted set: entry id → when its retry is due, ms of server time."""
        return self.of(f"{stream}:delayed")

    def delayed_body(self, stream: str) -> str:
        """Hash: entry id → attempt, space, envelope (or `blob:<name> <query_id>`)."""
        return self.of(f"{stream}:delayed:body")

    def alive(self, stage: str, consumer: str) -> str:
        """String with a short TTL: present while the consumer's process lives."""
        return self.of(f"{stage}:alive:{consumer}")

    def result(self, query_id: str) -> str:
        """String: the envelope of the query's result."""
        return self.of(f"result:{query_id}")

    def idempotency(self, key: str) -> str:
        """String: payload digest, space, query_id."""
        return self.of(f"idem:{hashlib.sha256(key.encode()).hexdigest()[:32]}")

    def blob(self, name: str) -> str:
        """String: a message too large for its stream, while it is under way."""
        return self.of(f"blob:{name}")

    def raw(self, stream: str, entry_id: str) -> str:
        """String: the bytes of a dead letter, for the operator only. Of its stream: a stage may read several."""
        return self.of(f"raw:{stream}:{entry_id}")
