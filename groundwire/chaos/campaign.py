"""One run: a system is opened, loaded, struck by the plan, drained, and held to account."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

from bus.delivery import fields_of
from bus.results import cursor_of
from bus.wire import text

from .arena import Arena, Setup, open_arena
from .faults import FAULTS
from .plan import Fault, Strike, plan
from .report import Death, Left, Report, account, counts

_PAGE = 1_000
_POLL_S = 0.1


@dataclass(frozen=True)
class Campaign:
    """What every seed of a campaign has in common.

    `patience_s`: without any result for that long after the last fault, what is open counts as lost.
    """

    setup: Setup = field(default_factory=Setup)
    chosen: Sequence[Fault] = tuple(FAULTS.values())
    minutes: float | None = None
    queries: int = 2_000
    patience_s: float = 20.0

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is inflicted."""
        offers = self.setup.offers
        return tuple(fault for fault in self.chosen if fault.needs in offers)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The chosen faults that make no sense there, or that a guest's server is spared."""
        offers = self.setup.offers
        return tuple(fault.name for fault in self.chosen if fault.needs not in offers)


@dataclass(frozen=True)
class Progress:
    """Where a run is."""

    seed: int
    fault: str
    accepted: int
    results: int
    open: int


OnProgress = Callable[[Progress], None]


async def run_seed(campaign: Campaign, seed: int, on_progress: OnProgress) -> Report:
    """Run one seed's plan; returns its report, whatever became of the queries."""
    strikes = plan(seed, campaign.faults, campaign.minutes)
    started = time.monotonic()
    logs = campaign.setup.logs and campaign.setup.logs / f"seed-{seed}"
    async with open_arena(replace(campaign.setup, logs=logs), seed) as arena:
        enough = asyncio.Event()
        underway: list[str] = []
        following = asyncio.create_task(arena.load.follow_results(cursor_of(arena.start.results)))
        showing = asyncio.create_task(_show(arena, seed, underway, on_progress))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(arena.load.run(enough, campaign.queries, campaign.patience_s))
                inflicted = await _carry_out(arena, campaign, strikes, underway)
                enough.set()
            await _drain(arena, campaign.patience_s)
            return await _report(arena, seed, inflicted, time.monotonic() - started)
        finally:
            for task in (following, showing):
                task.cancel()
            await asyncio.gather(following, showing, return_exceptions=True)


async def _carry_out(
    arena: Arena, campaign: Campaign, strikes: Sequence[Strike], underway: list[str]
) -> tuple[Strike, ...]:
    """Inflict the planned faults, as far as the minutes go; returns those inflicted."""
    known = {fault.name: fault for fault in campaign.faults}
    limit_s = inf if campaign.minutes is None else campaign.minutes * 60
    overlapped = [following.overlaps for following in strikes[1:]] + [False]
    began = time.monotonic()
    done: list[Strike] = []

    async def inflict(strike: Strike) -> None:
        calm = arena.book.fault_began()
        underway.append(strike.fault)
        try:
            await known[strike.fault].inflict(arena, strike)
        finally:
            underway.remove(strike.fault)
        alone = calm and not strike.overlaps and not overlapped[strike.number]
        arena.book.fault_ended(strike.fault, alone=alone)

    async with asyncio.TaskGroup() as group:
        slipped_s = 0.0
        for strike in strikes:
            await asyncio.sleep(strike.at_s + slipped_s - (time.monotonic() - began))
            if not strike.overlaps:
                await _recovered(arena, underway, campaign.patience_s)
            slipped_s = time.monotonic() - began - strike.at_s
            if time.monotonic() - began > limit_s:
                break
            group.create_task(inflict(strike))
            done.append(strike)
    return tuple(done)


async def _recovered(arena: Arena, underway: list[str], patience_s: float) -> None:
    """Return when all faults are over and recovered from, or when that takes too long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while underway or arena.book.recovering:  # noqa: ASYNC110 - as results come
                await asyncio.sleep(_POLL_S)


async def _drain(arena: Arena, patience_s: float) -> None:
    """Wait until every accepted query has its result, or until none came for too long."""
    since = time.monotonic()
    while arena.book.waiting:
        if time.monotonic() - max(since, arena.book.last_result_at) > patience_s:
            return
        await asyncio.sleep(_POLL_S)


async def _report(arena: Arena, seed: int, strikes: tuple[Strike, ...], seconds: float) -> Report:
    left = [
        entry
        for stream, last in arena.start.results.items()
        for entry in await _read_all(arena, stream, last)
    ]
    verification = tuple(await arena.until_answered(arena.direct.verify))
    return Report(
        seed=seed,
        account=account(arena.book.queries, left),
        leaked=await arena.leaked(),
        deaths=await _deaths(arena),
        refusals=arena.book.refusals,
        counts=counts(arena.start.verification, verification),
        verification=verification,
        recoveries=tuple(arena.book.recoveries),
        faults=strikes,
        seconds=seconds,
    )


async def _deaths(arena: Arena) -> dict[str, Death]:
    dead = await arena.until_answered(lambda: arena.direct.dead.list(_PAGE))
    records = [entry.record for entry in dead]
    return {
        one.query_id: Death(one.stage, one.reason, one.deliveries, one.error) for one in records
    }


async def _read_all(arena: Arena, stream: str, last: str) -> list[Left]:
    """Every entry after one of a result stream, read raw: the account trusts no reader of the bus."""
    found: list[Left] = []
    outcome = stream.rpartition(".")[2]
    start = f"({last}"
    while True:
        page = await arena.command("XRANGE", stream, start, "+", "COUNT", _PAGE)
        for _, flat in page:
            fields = fields_of(flat)
            subject = json.loads(fields[b"event"])["subject"]
            found.append(Left(subject, outcome, b"supersedes" in fields))
        if not page:
            return found
        start = f"({text(page[-1][0])}"


async def _show(arena: Arena, seed: int, underway: list[str], on_progress: OnProgress) -> None:
    while True:
        book = arena.book
        accepted = book.accepted
        fault = ", ".join(underway) or "-"
        on_progress(Progress(seed, fault, accepted, book.results, len(book.waiting)))
        await asyncio.sleep(_POLL_S * 2)
