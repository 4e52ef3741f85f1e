"""The conservation law, read in one step: what came in is what went out and what is still here."""

from dataclasses import dataclass

from contracts import OUTCOMES, Topology

from .keys import Keys
from .status import pairs
from .wire import Wire, text


@dataclass(frozen=True)
class Verification:
    """Both sides of the law for one lane.

    accepted + replayed = answered + out_of_scope + rejected + failed + open, and
    open = entries in work streams + delayed + parked − bare entries not yet adopted.
    """

    lane: int
    accepted: int
    replayed: int
    outcomes: dict[str, int]
    open: int
    working: int
    delayed: int
    parked: int
    bare: int
    dropped: int

    @property
    def queries_balance(self) -> bool:
        """Whether every accepted or replayed query is open or has one result."""
        return self.accepted + self.replayed == sum(self.outcomes.values()) + self.open

    @property
    def entries_balance(self) -> bool:
        """Whether every open query lies in exactly one place."""
        return self.open == self.working + self.delayed + self.parked - self.bare

    @property
    def holds(self) -> bool:
        """Whether both equations hold."""
        return self.queries_balance and self.entries_balance


async def verify(wire: Wire, keys: Keys, topology: Topology) -> Verification:
    """Read one lane. The parked streams are named by the first of two steps, until both agree."""
    while True:
        parked = sorted(text(name) for name in await wire.call("SMEMBERS", keys.parked))
        names = [keys.open, keys.counters, keys.parked, keys.of(topology.entry.consumes)]
        for stream in topology.work_streams:
            names += [keys.of(stream), keys.delayed(stream)]
        for name in parked:
            names += [keys.of(name), keys.delayed(name)]
        reply = await wire.script("verify", names, [len(topology.work_streams), len(parked)])
        open_queries, working, in_parked, delayed, bare, parked_known, flat = reply
        if parked_known != len(parked):
            continue
        counters = {name: int(value) for name, value in pairs(flat).items()}
        return Verification(
            lane=keys.lane,
            accepted=counters.get("accepted", 0),
            replayed=counters.get("replayed", 0),
            outcomes={name: counters.get(name, 0) for name in OUTCOMES},
            open=open_queries,
            working=working,
            delayed=delayed,
            parked=in_parked,
            bare=bare,
            dropped=counters.get("dropped", 0),
        )
