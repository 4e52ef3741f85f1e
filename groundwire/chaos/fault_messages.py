"""Faults of messages: bare, malformed, of a version still unknown, and dead ones that are replayed."""

import asyncio
from collections.abc import Mapping, Sequence

from bus.keys import Keys
from contracts import TOPOLOGY, Stage
from contracts.ids import lane_of_query

from .agents import Mark
from .arena import Arena
from .book import FAILED, Asked
from .fault_handlers import ask_hastily
from .plan import Fault, Strike

_FEW = 4
_PARKED_S = 5.0
_POLL_S = 0.05
_DEAD = 1_000
_JUNK: Sequence[Mapping[str, bytes]] = (
    {"junk": b"\xff\xfe"},
    {"event": b"\xff\xfe"},
    {"event": b"{}"},
    {"event": b'{"specversion": "1.0", "id": 7, "type": [], "subject": {}, "data": null}'},
)


async def _add_bare(arena: Arena, strike: Strike) -> None:
    """Under an id of the client's and twice, under none, and under ids that are used already."""
    keys = arena.keys(strike)
    known = [one for one in arena.book.queries.values() if one.standing == "accepted"]
    used = [one.query_id for one in known if lane_of_query(one.query_id) == keys.lane][-_FEW:]
    asked: list[Asked] = []
    for number in range(_FEW):
        named = f"{keys.lane}-bare-{strike.number}-{number}"
        await _add_query(arena, keys, named)
        await _add_query(arena, keys, named)
        unnamed = f"{keys.lane}-{await _add_query(arena, keys)}"
        asked += [arena.book.ask(one, standing="accepted") for one in (named, unnamed)]
    for query_id in used:
        await _add_query(arena, keys, query_id)
    await arena.book.all_answered(asked)


async def _add_query(arena: Arena, keys: Keys, query_id: str | None = None) -> str:
    named = ("query_id", query_id) if query_id else ()
    stream = keys.of(TOPOLOGY.entry.consumes)
    return await arena.add(stream, ("text", "Is this bare?", "session_id", "bare", *named))


async def _add_junk(arena: Arena, strike: Strike) -> None:
    """On every work stream; each ends at once as a failed result of a query that nobody asked."""
    keys = arena.keys(strike)
    asked = [
        await _add_stranger(arena, keys, stage, fields)
        for stage in TOPOLOGY.stages
        for fields in _JUNK
    ]
    await arena.book.all_answered(asked)


async def _add_stranger(
    arena: Arena, keys: Keys, stage: Stage, fields: Mapping[str, bytes]
) -> Asked:
    flat = [part for field in fields.items() for part in field]
    entry_id = await arena.add(keys.of(stage.consumes), flat)
    whose = "" if stage == TOPOLOGY.entry else f"{stage.name}-"
    return arena.book.ask(f"{keys.lane}-{whose}{entry_id}", FAILED, standing="accepted")


async def _send_newer(arena: Arena, strike: Strike) -> None:
    """Intents that nobody here can read wait, parked, until a worker that can comes for a while."""
    mark = Mark("newer", "understand")
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(arena.load.ask(mark)) for _ in range(_FEW)]
    asked = [task.result() for task in asking]
    await _until_parked(arena, len(asked))
    async with arena.newer_worker("retrieve"):
        await arena.book.all_answered(asked)


async def _until_parked(arena: Arena, count: int) -> None:
    """Return when so many are, or after a while: another fault may hold one up."""
    for _ in range(int(_PARKED_S / _POLL_S)):
        lanes = await arena.until_answered(arena.direct.verify)
        if sum(lane.parked for lane in lanes) >= count:
            return
        await asyncio.sleep(_POLL_S)


async def _replay(arena: Arena, strike: Strike) -> None:
    """Let deadlines pass, then replay every dead letter of it, each by two at once."""
    asked = {one.query_id: one for one in await ask_hastily(arena, strike)}
    dead = await arena.until_answered(lambda: arena.direct.dead.list(_DEAD))
    mine = [entry for entry in dead if entry.record.query_id in asked]
    async with asyncio.TaskGroup() as group:
        for entry in mine:
            group.create_task(arena.load.replay_twice(asked[entry.record.query_id], entry.id))
    await arena.book.all_answered(asked.values())


MESSAGES = (
    Fault(
        "bare",
        "entries added with XADD, also twice and under ids that are used: each id is one query",
        0.5,
        0.5,
        _add_bare,
    ),
    Fault("junk", "malformed entries on every work stream", 0.5, 0.5, _add_junk),
    Fault(
        "newer",
        "messages of a next version: parked, until a worker comes that can read them",
        2.0,
        2.0,
        _send_newer,
    ),
    Fault("replay", "dead letters replayed, by two clients at once", 2.3, 2.8, _replay),
)
