"""The server's users: what each worker needs it may do, and nothing that isn't its business."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from bus_system import NOOP, STAGES, Noted, System, holds, query, soon

from bus import Bus, UrlBackend
from bus.access import CLIENT, OBSERVER, OPERATOR, SCALER, users
from bus.keys import LANES, Keys
from bus.wire import Arg, Refused, Wire, text
from contracts import TOPOLOGY, Invalid, Permanent, Transient, Value
from groundwire import noop

pytestmark = pytest.mark.server

PASSWORD = "secret"
KEYS = Keys(0)
WORK = TOPOLOGY.work_streams
LARGE = 2_000
LIMITS = {"blob_bytes": 1_000}


def url_of(user: str, url: str) -> str:
    """The server's URL for one of its users."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{user}:{PASSWORD}@{place}"))


class Guarded(System):
    """A system whose workers and client are users of their own; the test itself may do anything."""

    def __init__(self, url: str) -> None:
        super().__init__(UrlBackend(url))
        self.url = url
        self.bus = Bus(UrlBackend(url_of(CLIENT, url)), self.config)
        self.operator = Bus(UrlBackend(url_of(OPERATOR, url)), self.config)
        self.observer = Bus(UrlBackend(url_of(OBSERVER, url)), self.config)

    def backend_of(self, stage: str) -> UrlBackend:
        """By its own user."""
        return UrlBackend(url_of(stage, self.url))

    async def denied(self) -> list[tuple[str, str]]:
        """What the server has refused: user and what it was about."""
        rows = [
            dict(zip(row[::2], row[1::2], strict=True)) for row in await self.call("ACL", "LOG")
        ]
        return [(text(row[b"username"]), text(row[b"object"])) for row in rows]


@pytest.fixture
async def guarded(server_url: str) -> AsyncIterator[Guarded]:
    """The server with its users; without them afterwards."""
    system = Guarded(server_url)
    names = [user.name for user in users()]
    await system.call("SET", LANES, 1)
    for user in users():
        await system.call("ACL", "SETUSER", user.name, "reset", "on", f">{PASSWORD}", *user.rules)
    await system.call("ACL", "LOG", "RESET")
    async with system, system.operator, system.observer:
        yield system
        await system.call("ACL", "DELUSER", *names)


async def test_five_users_run_the_whole_flow(guarded: Guarded) -> None:
    """Answers, retries, dead letters, blobs, bare entries and a replay: the server refuses them nothing."""
    tried: set[str] = set()

    async def retrieve(intent: Any) -> Value:
        question = intent.query.text
        if question == "again" and question not in tried:
            tried.add(question)
            raise Transient("once more")
        if question == "never" and question not in tried:
            tried.add(question)
            raise Permanent("no")
        return await noop.retrieve(intent)

    async with guarded.running(handlers={"retrieve": retrieve}, watch=Noted(), **LIMITS):
        assert (await guarded.ask("why?")).status == "approved_fallback"
        assert (await guarded.ask("again")).status == "approved_fallback"
        assert (await guarded.ask("x" * LARGE)).status == "approved_fallback"
        assert (await guarded.ask("never")).status == "failed"
        (dead,) = await guarded.operator.dead.list()
        assert await guarded.operator.dead.raw(dead.id)
        replayed = await guarded.operator.dead.replay(dead.id)
        assert (await guarded.bus.result(replayed)).status == "approved_fallback"
        await guarded.add("queries", "text", "bare", "query_id", "0-bare")
        await guarded.bus.result("0-bare")
        assert [seen.event.stage for seen in await guarded.bus.trace(replayed)][-1] == "format"
        assert all(stage.workers for stage in (await guarded.operator.status()).stages)
        assert all(stage.workers for stage in (await guarded.observer.status()).stages)
        assert await guarded.bus.idle_stages() == []
        scaler = Wire(UrlBackend(url_of(SCALER, guarded.url)), 5.0)
        assert [await scaler.call("XLEN", KEYS.of(name)) for name in WORK] == [0] * len(WORK)
        await scaler.close()
    assert all(lane.holds for lane in await guarded.operator.verify())
    assert await guarded.denied() == []


async def test_a_dead_worker_s_work_is_claimed_by_its_own_user(guarded: Guarded) -> None:
    """Claiming, and the removal of a consumer that is gone, need nothing more."""
    stuck = guarded.start("understand", NOOP["understand"], backlog_mark=0)
    await stuck.worker.ready.wait()
    await guarded.bus.submit(query())
    await stuck.vanish()
    async with guarded.running():
        await soon(lambda: _answered(guarded))
    assert await guarded.denied() == []


async def _answered(system: System) -> bool:
    return await system.counter("answered") == 1


FORBIDDEN: list[tuple[str, tuple[Arg, ...]]] = [
    ("format", ("XRANGE", KEYS.of("drafts"), "-", "+")),
    ("format", ("XREAD", "STREAMS", KEYS.of("drafts"), "0")),
    ("format", ("XREADGROUP", "GROUP", "critic", "me", "STREAMS", KEYS.of("drafts"), ">")),
    ("format", ("XCLAIM", KEYS.of("drafts"), "critic", "me", 0, "1-1", "FORCE")),
    ("format", ("GET", KEYS.blob("contexts:1-1"))),
    ("format", ("EVAL", "return redis.call('XRANGE', KEYS[1], '-', '+')", 1, KEYS.of("drafts"))),
    ("format", ("EVAL", "return redis.call('GET', KEYS[1])", 1, KEYS.blob("contexts:1-1"))),
    ("format", ("EVAL", f"return redis.call('XRANGE', '{KEYS.of('drafts')}', '-', '+')", 0)),
    ("format", ("EVAL", f"return redis.pcall('GET', '{KEYS.raw('drafts', '1-1')}')", 0)),
    ("format", ("XINFO", "STREAM", KEYS.of("drafts"), "FULL")),
    ("format", ("XAUTOCLAIM", KEYS.of("drafts"), "critic", "me", 0, "0")),
    ("format", ("SORT", KEYS.of("open"), "BY", "nosort", "GET", KEYS.raw("drafts", "1-1"))),
    ("format", ("RENAME", KEYS.of("drafts"), KEYS.of("verdicts"))),
    ("format", ("DUMP", KEYS.of("drafts"))),
    ("format", ("OBJECT", "ENCODING", KEYS.of("drafts"))),
    ("format", ("SUBSCRIBE", "__keyspace@0__:*")),
    ("format", ("CLIENT", "TRACKING", "ON", "BCAST")),
    ("format", ("CLIENT", "LIST")),
    ("format", ("CLIENT", "KILL", "TYPE", "normal")),
    ("format", ("MONITOR",)),
    ("format", ("SLOWLOG", "GET")),
    ("format", ("FUNCTION", "LIST")),
    ("format", ("FCALL", "f", 1, KEYS.of("drafts"))),
    ("format", ("SCAN", 0)),
    ("format", ("HGETALL", KEYS.delayed_body("drafts"))),
    ("format", ("COPY", KEYS.blob("contexts:1-1"), KEYS.blob("verdicts:1-1"))),
    ("critic", ("XADD", KEYS.of("results.answered"), "*", "event", "{}")),
    ("retrieve", ("XADD", KEYS.of("queries"), "*", "text", "forged")),
    ("retrieve", ("XADD", KEYS.of("drafts"), "*", "event", "{}")),
    ("understand", ("DEL", KEYS.alive("critic", "somebody"))),
    (CLIENT, ("XRANGE", KEYS.of("queries"), "-", "+")),
    (CLIENT, ("XADD", KEYS.of("verdicts"), "*", "event", "{}")),
    (CLIENT, ("XADD", KEYS.of("results.answered"), "*", "event", "{}")),
    (CLIENT, ("SET", KEYS.result("0-1"), "forged")),
    (CLIENT, ("XRANGE", KEYS.dead, "-", "+")),
    (CLIENT, ("GET", KEYS.raw("queries", "1-1"))),
    (CLIENT, ("SET", LANES, 7)),
    (OBSERVER, ("XRANGE", KEYS.dead, "-", "+")),
    (OBSERVER, ("XRANGE", KEYS.events, "-", "+")),
    (OBSERVER, ("GET", KEYS.raw("queries", "1-1"))),
    (OBSERVER, ("GET", KEYS.result("0-1"))),
    (OBSERVER, ("XADD", KEYS.of("queries"), "*", "text", "forged")),
    (OBSERVER, ("XDEL", KEYS.of("queries"), "1-1")),
    (SCALER, ("XRANGE", KEYS.of("drafts"), "-", "+")),
    (SCALER, ("XINFO", "STREAM", KEYS.of("drafts"), "FULL")),
    (SCALER, ("XREAD", "STREAMS", KEYS.of("drafts"), "0")),
    (SCALER, ("XADD", KEYS.of("queries"), "*", "text", "forged")),
    (SCALER, ("HGETALL", KEYS.counters)),
    (SCALER, ("XLEN", KEYS.dead)),
    (SCALER, ("CLIENT", "UNBLOCK", 1)),
    (OBSERVER, ("CLIENT", "UNBLOCK", 1)),
    (CLIENT, ("CLIENT", "UNBLOCK", 1)),
    (OPERATOR, ("FLUSHALL",)),
    (OPERATOR, ("FUNCTION", "FLUSH")),
    (OPERATOR, ("SCRIPT", "DEBUG", "SYNC")),
    (OPERATOR, ("ACL", "SETUSER", OPERATOR, "+@all")),
    (OPERATOR, ("CONFIG", "SET", "appendonly", "no")),
    (OPERATOR, ("SET", "somebody", "else's")),
]
for _stage in STAGES:
    FORBIDDEN += [
        (_stage, ("XRANGE", KEYS.dead, "-", "+")),
        (_stage, ("XREAD", "STREAMS", KEYS.events, "0")),
        (_stage, ("XRANGE", KEYS.of("results.failed"), "-", "+")),
        (_stage, ("GET", KEYS.result("0-1"))),
        (_stage, ("SET", KEYS.result("0-1"), "x", "GET")),
        (_stage, ("GET", KEYS.raw("queries", "1-1"))),
        (_stage, ("EVAL", "return redis.call('GET', KEYS[1])", 1, KEYS.result("0-1"))),
        (_stage, ("DEL", KEYS.open)),
        (_stage, ("KEYS", "*")),
        (_stage, ("CONFIG", "GET", "*")),
        (_stage, ("FLUSHALL",)),
        (_stage, ("ACL", "WHOAMI")),
    ]


async def test_nobody_may_do_what_is_not_their_business(guarded: Guarded) -> None:
    """Format can't read a draft; no worker reads dead letters, events, results; no client reads or forges work."""
    await guarded.call("SET", KEYS.blob("contexts:1-1"), "a draft")
    await guarded.add("drafts", "event", "a draft")
    allowed = []
    for user in users():
        wire = Wire(UrlBackend(url_of(user.name, guarded.url)), 5.0)
        try:
            for words in (words for name, words in FORBIDDEN if name == user.name):
                with suppress(Refused):
                    allowed.append((user.name, words, await wire.call(*words)))
        finally:
            await wire.close()
    assert allowed == []


async def test_a_refusal_says_where_rights_are_listed(guarded: Guarded) -> None:
    """Whoever asks with the wrong user reads what to do."""
    with pytest.raises(Refused, match="groundwire acl"):
        await guarded.bus.status()


async def test_a_number_of_lanes_is_not_a_client_s_to_set(guarded: Guarded) -> None:
    """On a server where nothing has started a client is refused; it would decide for all."""
    await guarded.call("DEL", LANES)
    with pytest.raises(Refused):
        await Bus(UrlBackend(url_of(CLIENT, guarded.url)), guarded.config).__aenter__()
    async with guarded.running("understand"):
        await guarded.bus.submit(query())


async def test_the_operator_discards_and_a_second_time_finds_nothing(guarded: Guarded) -> None:
    """Dead letters are the operator's alone."""

    async def fail(_: Any) -> Value:
        raise Permanent("no")

    async with guarded.running("understand", handlers={"understand": fail}):
        await guarded.ask()
    (dead,) = await guarded.operator.dead.list()
    await guarded.operator.dead.discard(dead.id)
    with pytest.raises(Invalid):
        await guarded.operator.dead.get(dead.id)


async def test_a_worker_that_may_not_read_does_not_look_as_if_it_did(guarded: Guarded) -> None:
    """Each try is refused at once: the time since a read came back goes on."""
    (user,) = (user for user in users() if user.name == "understand")
    rules = [rule.replace("+xreadgroup ", "") for rule in user.rules]
    await guarded.call("ACL", "SETUSER", user.name, "reset", "on", f">{PASSWORD}", *rules)
    running = guarded.start("understand")
    (vitals,) = running.worker.vitals
    await holds(lambda: vitals.has_group and vitals.is_free and vitals.read_at > 0)
    began = vitals.read_at
    await holds(lambda: running.log.count("read.refused") > 2)
    assert vitals.read_at == began
    await running.stop()
