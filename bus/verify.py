"""The conservation law, read in one step: what came in is what went out and what is still here."""

from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any, Literal

from redis import exceptions as errors

from contracts import OUTCOMES, Topology, Transient

from .keys import Keys
from .status import pairs
from .survey import UnreachableLane
from .wire import Wire, is_wrong_type, text

Verdict = Literal["holds", "broken", "unverified"]


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


@dataclass(frozen=True)
class Proof:
    """The law in every lane whose server answers, and the lanes of which nothing can be said."""

    lanes: tuple[Verification, ...]
    unreachable: tuple[UnreachableLane, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Broken as soon as one lane breaks it; it holds only where every lane was read."""
        if not all(lane.holds for lane in self.lanes):
            return "broken"
        return "unverified" if self.unreachable else "holds"


async def _read(wire: Wire, keys: Keys, topology: Topology) -> tuple[list[str], list[Any]]:
    """The parked streams, and what verify.lua reads; Transient while a key holds another type."""
    names = [keys.open, keys.counters, keys.parked, keys.of(topology.entry.consumes)]
    for stream in topology.work_streams:
        names += [keys.of(stream), keys.delayed(stream)]
    try:
        parked = sorted(text(name) for name in await wire.call("SMEMBERS", keys.parked))
        for name in parked:
            names += [keys.of(name), keys.delayed(name)]
        numbers = [len(topology.work_streams), len(parked)]
        return parked, await wire.script("verify", names, numbers)
    except errors.ResponseError as error:
        if not is_wrong_type(error):
            raise
        wrong = await _of_another_type(wire, names)
        raise Transient(
            f"the books can't be read while keys hold another type: {', '.join(wrong)}; "
            "whoever wrote there has to put them right"
        ) from error


async def _of_another_type(wire: Wire, keys: list[str]) -> list[str]:
    """Those of verify.lua's keys that aren't what it takes them for."""
    wanted = chain(("zset", "hash", "set", "stream"), cycle(("stream", "zset")))
    found = [(key, want, text(await wire.call("TYPE", key))) for key, want in zip(keys, wanted)]  # noqa: B905
    return [f"{key} is a {kind}" for key, want, kind in found if kind not in (want, "none")]


async def verify(wire: Wire, keys: Keys, topology: Topology) -> Verification:
    """Read one lane. The parked streams are named by the first of two steps, until both agree."""
    while True:
        parked, reply = await _read(wire, keys, topology)
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
