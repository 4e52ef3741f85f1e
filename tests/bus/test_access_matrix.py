"""Every command that the server has, tried by every user on what is not everybody's to see."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bus import UrlBackend
from bus.access import CLIENT, OBSERVER, OPERATOR, SCALER, users
from bus.keys import Keys
from bus.wire import Wire, text

pytestmark = pytest.mark.server

KEYS = Keys(0)
SECRETS = {
    "drafts": KEYS.of("drafts"),
    "a large draft": KEYS.blob("contexts:1-1"),
    "a draft to be tried again": KEYS.delayed_body("drafts"),
    "a dead draft": KEYS.raw("drafts", "1-1"),
    "a replayed draft": KEYS.blob("replay:drafts:1-1"),
    "dead letters": KEYS.dead,
    "events": KEYS.events,
    "rejections": KEYS.of("results.rejected"),
    "failures": KEYS.of("results.failed"),
    "a result": KEYS.result("0-1"),
}
STAGES = ("understand", "retrieve", "synthesize", "critic", "format")
_WRITES = {"xadd", "type"}
_OWN_STREAM = {
    *("xreadgroup", "xack", "xdel", "xadd", "xclaim", "xpending", "xrange", "xlen", "type"),
    *("xgroup|create", "xgroup|delconsumer", "xinfo|consumers"),
}
_FOLLOWS = {"xread", "xrange", "xrevrange"}
MAY: dict[tuple[str, str], set[str]] = {
    ("critic", "drafts"): _OWN_STREAM,
    ("synthesize", "drafts"): {*_WRITES, "xlen"},
    (CLIENT, "drafts"): {"xinfo|consumers"},
    (OBSERVER, "drafts"): {"xlen", "xrange", "xinfo|stream", "xinfo|consumers"},
    (SCALER, "drafts"): {"xlen"},
    ("critic", "a large draft"): {"get", "unlink"},
    ("synthesize", "a large draft"): {"set", "unlink"},
    ("critic", "a draft to be tried again"): {"hset", "hget", "hdel", "type"},
    ("critic", "a dead draft"): {"set"},
    ("critic", "a replayed draft"): {"get", "unlink"},
    **{(stage, name): _WRITES for stage in STAGES for name in ("dead letters", "events")},
    **{(stage, "failures"): _WRITES for stage in STAGES},
    **{(stage, "a result"): {"set"} for stage in STAGES},
    ("understand", "a result"): {"set", "exists"},
    ("format", "rejections"): _WRITES,
    **{(CLIENT, name): _FOLLOWS for name in ("events", "rejections", "failures")},
    (CLIENT, "a result"): {"get"},
    (OBSERVER, "dead letters"): {"xlen"},
}
"""All that anybody but the operator may do there; whoever isn't named may do nothing."""
_KEY = "KEY"
_BY_HAND: dict[str, list[str]] = {
    "xread": ["STREAMS", _KEY, "0"],
    "xreadgroup": ["GROUP", "g", "c", "STREAMS", _KEY, ">"],
    "sort": [_KEY, "GET", "*"],
    "migrate": ["host", "1", _KEY, "0", "1"],
    "set GET": [_KEY, "v", "GET"],
    "xinfo|stream": [_KEY, "FULL"],
    **{f"{name}store": [_KEY, "1", _KEY] for name in ("zunion", "zinter", "zdiff")},
    **{name: ["1", _KEY] for name in ("zunion", "zinter", "zdiff", "sintercard", "zintercard")},
    **{name: ["1", _KEY, "LEFT"] for name in ("lmpop", "zmpop")},
    **{name: ["0", "1", _KEY, "LEFT"] for name in ("blmpop", "bzmpop")},
    **{name: [_KEY, "1", "1", "1", "m"] for name in ("georadius", "georadiusbymember")},
    **{name: ["f", "1", _KEY] for name in ("fcall", "fcall_ro", "eval_ro", "evalsha_ro")},
}
"""Where a key doesn't stand at a place that the server tells."""
_NAMES_KEYS = {"eval", "evalsha"}
"""What a script does is checked command by command (test_access.py)."""


def commands(reply: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """Every command with arguments of which each key is KEY."""
    for name, arity, _, first, last, step, *_, subcommands in reply:
        yield from commands(subcommands)
        known, is_sub = text(name), b"|" in name
        if first and known not in _NAMES_KEYS | _BY_HAND.keys():
            begin = first - 1 - is_sub
            words = ["1"] * max(abs(arity) - 1 - is_sub, begin + 1)
            end = last - is_sub if last > 0 else len(words)
            for place in range(begin, min(end, len(words)), step or 1):
                words[place] = _KEY
            yield known, words


@pytest.fixture
async def wire(server_url: str) -> AsyncIterator[Wire]:
    """The server with its users; without them afterwards."""
    wire = Wire(UrlBackend(server_url), 20.0)
    for user in users():
        await wire.call("ACL", "SETUSER", user.name, "reset", "on", ">secret", *user.rules)
    yield wire
    await wire.call("ACL", "DELUSER", *(user.name for user in users()))
    await wire.close()


async def test_no_command_of_the_server_shows_anybody_more(wire: Wire) -> None:
    """A new one of a new server is tried too: what it needs isn't granted by a category."""
    known = [*commands(await wire.call("COMMAND")), *_BY_HAND.items()]
    assert len(known) > 200
    found: dict[tuple[str, str], set[str]] = {}
    for user in (user.name for user in users() if user.name != OPERATOR):
        for secret, key in SECRETS.items():
            for name, words in known:
                args = [key if word == _KEY else word for word in words]
                command = name.partition(" ")[0].split("|")
                if await wire.call("ACL", "DRYRUN", user, *command, *args) == b"OK":
                    found.setdefault((user, secret), set()).add(name)
    assert found == MAY
