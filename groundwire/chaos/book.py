"""The client's book: what it asked, what it was told, and when. Decides nothing, knows no server."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Standing = Literal["asked", "accepted", "refused"]

ANSWERED, FAILED = frozenset({"answered"}), frozenset({"failed"})
EITHER = ANSWERED | FAILED


@dataclass
class Asked:
    """One query as its client sees it; `asked` means that no answer to its submit is known yet."""

    query_id: str
    ends_as: frozenset[str] = ANSWERED
    """The outcomes that its first result may have."""
    standing: Standing = "asked"
    replays: int = 0
    """How often it was replayed: each gives one more result, answered, that supersedes the one before."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False)
class Recovery:
    """How long it took after a fault.

    `seconds`: from the end of the fault (of a kill: from the kill) until the last of the queries that
    were open at that moment had its result; None as long as one has none. `first_s`: until the next
    result of any query. An undisturbed query takes a third of a second, and that is part of `seconds`.
    Not `alone`: another fault began before this one was recovered from, so the numbers are not its own.
    """

    fault: str
    began: float
    waits_for: set[str]
    seconds: float | None = None
    first_s: float | None = None
    alone: bool = True

    def saw(self, query_id: str, at: float) -> None:
        """Take note of a result."""
        if self.first_s is None:
            self.first_s = at - self.began
        self.waits_for.discard(query_id)
        if not self.waits_for and self.seconds is None:
            self.seconds = at - self.began


class Book:
    """Every query of a run, by id."""

    def __init__(self) -> None:
        self.queries: dict[str, Asked] = {}
        self.refusals = 0
        """How often a submit was refused because of overload."""
        self.results = 0
        self.recoveries: list[Recovery] = []
        self.last_result_at = time.monotonic()
        self._early: set[str] = set()
        """With a result before they were entered: a bare entry's id is known once it was added."""

    def ask(
        self, query_id: str, ends_as: frozenset[str] = ANSWERED, *, standing: Standing = "asked"
    ) -> Asked:
        """A query is about to be submitted, or was accepted in another way."""
        asked = self.queries[query_id] = Asked(query_id, ends_as, standing)
        if query_id in self._early:
            asked.answered.set()
        return asked

    @property
    def accepted(self) -> int:
        """How many were accepted, as the client knows."""
        return sum(asked.standing == "accepted" for asked in self.queries.values())

    @property
    def waiting(self) -> set[str]:
        """The accepted ones without a result."""
        return {
            query_id
            for query_id, asked in self.queries.items()
            if asked.standing == "accepted" and not asked.answered.is_set()
        }

    async def all_answered(self, asked: Iterable[Asked], within_s: float = 30.0) -> bool:
        """Wait for the results of some; whether all came in time: where one never does, the account says so."""
        try:
            async with asyncio.timeout(within_s):
                for one in asked:
                    await one.answered.wait()
        except TimeoutError:
            return False
        return True

    def saw_result(self, query_id: str) -> None:
        """A result came, of whatever query."""
        self.results += 1
        self.last_result_at = time.monotonic()
        if query_id in self.queries:
            self.queries[query_id].answered.set()
        else:
            self._early.add(query_id)
        for recovery in self.recoveries:
            if recovery.seconds is None:
                recovery.saw(query_id, self.last_result_at)

    def fault_began(self) -> bool:
        """Whether all before it is recovered from; what is not is no longer alone."""
        unfinished = [recovery for recovery in self.recoveries if recovery.seconds is None]
        for recovery in unfinished:
            recovery.alone = False
        return not unfinished

    def fault_ended(self, fault: str, *, alone: bool) -> None:
        """Begin to measure the recovery."""
        recovery = Recovery(fault, time.monotonic(), self.waiting, alone=alone)
        if not recovery.waits_for:
            recovery.seconds = 0.0
        self.recoveries.append(recovery)

    @property
    def recovering(self) -> bool:
        """Whether a fault is not yet recovered from."""
        return any(recovery.seconds is None for recovery in self.recoveries)
