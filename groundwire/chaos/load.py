"""The load: a bounded number of clients, each with one query at a time, that never take silence for an answer."""

import asyncio
import itertools
from collections.abc import Sequence

from bus import Bus
from contracts import Invalid, Overloaded, Query, Transient

from .agents import Mark
from .book import ANSWERED, EITHER, FAILED, Asked, Book

CLIENTS = 48
_AGAIN_S = 0.1
_TEXT = "What is the refund policy for annual plans? "
LARGE = 180 * _TEXT
"""A text whose every message up to its result is a blob."""
_LARGE_EVERY = 8


class Load:
    """Submits queries and keeps the book about them."""

    def __init__(
        self, buses: Sequence[Bus], hasty: Bus, book: Book, seed: int, *, durable: bool = False
    ) -> None:
        self._buses = itertools.cycle(buses)
        """A client's submits wait for each other: so several, of which one can be stuck."""
        self._hasty = hasty
        self._book = book
        self._seed = seed
        self._numbers = itertools.count()
        self._durable = durable
        """Whether an acceptance, or a replay, counts only once a replica has it."""

    async def run(self, enough: asyncio.Event, at_least: int, patience_s: float) -> None:
        """Ask until `enough` is set and that many were accepted; no client waits longer for one result."""
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(self._ask_on(enough, at_least, patience_s))

    @property
    def bus(self) -> Bus:
        """The next of its clients."""
        return next(self._buses)

    async def follow_results(self, after: str) -> None:
        """Enter results into the book as they come, for ever."""
        async for result in self.bus.results(after=after):
            self._book.saw_result(result.response.query_id)

    async def ask(self, mark: Mark | None = None, *, hasty: bool = False) -> Asked:
        """Submit one query and return once it is accepted; a hasty one's deadline is near."""
        query = self._query(mark)
        asked = self._book.ask(query.query_id, _ends_as(mark, hasty=hasty))
        while not await self._submit(query, asked, self._hasty if hasty else None):
            self._book.refusals += 1
            await asyncio.sleep(_AGAIN_S)
        return asked

    async def replay_twice(self, asked: Asked, dead_id: str) -> None:
        """Replay a dead letter from two clients at once, and again until it is known to be replayed."""
        asked.answered.clear()
        while True:
            tries = [self.bus.dead.replay(dead_id, durable=self._durable) for _ in range(2)]
            ends = await asyncio.gather(*tries, return_exceptions=True)
            for end in ends:
                if isinstance(end, BaseException) and not isinstance(end, Invalid | Transient):
                    raise end
            done = sum(isinstance(end, str) for end in ends)
            if done or all(isinstance(end, Invalid) for end in ends):
                # Nobody else replays: refused to both, it was done by one whose reply was lost.
                asked.replays += max(1, done)
                return
            await asyncio.sleep(_AGAIN_S)

    async def burst(self, count: int) -> None:
        """Submit many at once and give up those that are refused."""
        queries = [self._query(None) for _ in range(count)]
        book = [self._book.ask(query.query_id) for query in queries]
        try:
            await self.bus.submit_many(queries, durable=self._durable)
        except Overloaded:
            self._book.refusals += 1
        except Transient:  # no reply, or the server is full
            await asyncio.sleep(_AGAIN_S)
        # Some are accepted, some are not: asked for again one by one, each says which.
        pairs = zip(queries, book, strict=True)
        known = await asyncio.gather(*(self._submit(query, asked) for query, asked in pairs))
        for asked, accepted in zip(book, known, strict=True):
            if not accepted:
                asked.standing = "refused"
        self._book.refusals += known.count(False)

    async def _submit(self, query: Query, asked: Asked, bus: Bus | None = None) -> bool:
        """Whether the query is accepted; an unknown answer is asked for again, under the same id."""
        while True:
            try:
                await (bus or self.bus).submit(query, durable=self._durable)
            except Overloaded:
                return False
            except Transient:  # no reply, or the server is full
                await asyncio.sleep(_AGAIN_S)
            else:
                asked.standing = "accepted"
                return True

    def _query(self, mark: Mark | None) -> Query:
        number = next(self._numbers)
        text = LARGE if number % _LARGE_EVERY == 0 else _TEXT
        session = f"chaos-{self._seed}-{number}"
        feature = mark.feature if mark else None
        return self.bus.named(Query(text=text, session_id=session, feature=feature))

    async def _ask_on(self, enough: asyncio.Event, at_least: int, patience_s: float) -> None:
        while not enough.is_set() or self._book.accepted < at_least:
            asked = await self.ask()
            try:
                async with asyncio.timeout(patience_s):
                    await asked.answered.wait()
            except TimeoutError:
                continue  # late or lost: the account at the end will say


def _ends_as(mark: Mark | None, *, hasty: bool) -> frozenset[str]:
    if hasty:
        return EITHER
    return FAILED if mark is not None and mark.kind in ("poison", "wedge") else ANSWERED
