"""Who may do what on the server: Redis ACL users, one for each stage, for clients, observers, scalers, the operator.

Needs Redis 7 or Valkey: each grant is a selector, so that a command is allowed on the keys that it is meant for and
on no others. A script runs with the rights of its caller, command by command; what EVALSHA itself is granted is no
more than to name keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts import OUTCOMES, TOPOLOGY, Query, Stage, Topology

from .keys import LANES, Keys

CLIENT = "client"
OBSERVER = "observer"
SCALER = "scaler"
OPERATOR = "operator"

_LOOKING = (
    *("-@all", "+@connection", "-@admin", "-@dangerous"),
    *("-client|tracking", "+time", "+cluster|slots"),
)
"""What every connection needs. By category: a server refuses a user with a command that it doesn't know."""
_CONNECTED = (*_LOOKING, "+client|unblock")
"""What a worker needs: it stops its own wait for the next entry from a second connection."""
_OPERATING = (
    *("+@all", "-@admin", "-@dangerous", "-@scripting"),
    *("+eval", "+evalsha", "+info", "+config|get"),
)
"""Functions are the server's, and other applications': nobody's here."""


@dataclass(frozen=True)
class Grant:
    """Commands on keys. `reads`, `writes`: what may be done to them; a command like TYPE needs either."""

    commands: tuple[str, ...]
    keys: tuple[str, ...]
    reads: bool = True
    writes: bool = True

    @property
    def rule(self) -> str:
        """The selector, for a list of them."""
        kind = "~" if self.reads and self.writes else "%R~" if self.reads else "%W~"
        words = [f"+{command}" for command in self.commands]
        return f"({' '.join([*words, *(kind + key for key in self.keys)])})"


@dataclass(frozen=True)
class User:
    """A user of the server, without its password."""

    name: str
    rules: tuple[str, ...]
    """Of ACL SETUSER, in order."""


def users(topology: Topology = TOPOLOGY) -> tuple[User, ...]:
    """Every user there is: the stages in the order of the flow, clients, observers, scalers, the operator."""
    stages = (
        User(stage.name, (*_CONNECTED, *(grant.rule for grant in _of_stage(stage, topology))))
        for stage in topology.stages
    )
    client = (*_LOOKING, *(grant.rule for grant in _of_client(topology)))
    observer = (*_LOOKING, *(grant.rule for grant in _of_observer(topology)))
    operator = (*_OPERATING, f"~{_any('*')}")
    scaler = (*_LOOKING, *(grant.rule for grant in _of_scaler(topology)))
    return (
        *stages,
        User(CLIENT, client),
        User(OBSERVER, observer),
        User(SCALER, scaler),
        User(OPERATOR, operator),
    )


def _any(name: str) -> str:
    """The pattern of a key in every lane; `name` may end in `*`."""
    return Keys(0).of(name).replace("{0}", "{*}")


_NAMING_KEYS = Grant(("eval", "evalsha"), (_any("*"),))


def _of_stage(stage: Stage, topology: Topology) -> Iterator[Grant]:
    own, last = stage.consumes, stage.is_last
    results = OUTCOMES if last else ("failed",)
    yield _NAMING_KEYS
    yield Grant(("get", "set"), (LANES,))
    yield Grant(("exists", "set", "pexpire", "del"), (_any(f"{stage.name}:alive:*"),))
    yield Grant(
        (
            *("xreadgroup", "xack", "xdel", "xadd", "xclaim", "xpending", "xrange", "xlen", "type"),
            *("xgroup|create", "xgroup|delconsumer", "xinfo|consumers"),
        ),
        (_any(own), _any(f"{own}:v*")),
    )
    yield Grant(
        ("zadd", "zrem", "zrangebyscore", "zcard", "type"),
        (_any(f"{own}:delayed"), _any(f"{own}:v*:delayed")),
    )
    yield Grant(
        ("hset", "hget", "hdel", "type"),
        (_any(f"{own}:delayed:body"), _any(f"{own}:v*:delayed:body")),
    )
    if stage.next_streams:
        names = tuple(_any(name) for name in stage.next_streams)
        yield Grant(("xadd", "xlen", "type"), names, reads=False)
    yield Grant(("zscore", "zcard", "zrangebyscore", "zrem", "type"), (_any("open"),))
    yield Grant(("hincrby", "type"), (_any("counters"),))
    yield Grant(("hget", "hdel", "type"), (_any("replaying"),))
    yield Grant(("smembers", "sadd", "type"), (_any("parked"),))
    told = ("events", "dead", *(f"results.{outcome}" for outcome in results))
    yield Grant(("xadd", "type"), tuple(map(_any, told)), reads=False)
    yield Grant(("set",), (_any("result:*"), _any(f"raw:{own}:*")), reads=False)
    yield Grant(
        ("get", "unlink"), tuple(_any(f"blob:{name}:*") for name in _senders(stage, topology))
    )
    yield Grant(("set", "unlink"), (_any(f"blob:{own}:*"),), reads=False)
    if Query in stage.accepts:  # it adopts bare entries
        yield Grant(("zadd",), (_any("open"),), reads=False)
        yield Grant(("exists", "set"), (_any("result:*"), _any("idem:*")), reads=False)
        yield Grant(("set", "unlink"), (_any("blob:submit:*"),), reads=False)


def _senders(stage: Stage, topology: Topology) -> Iterator[str]:
    """What the names of the blobs begin with that a stage may find on its stream (settle.py, dead.py)."""
    yield f"replay:{stage.consumes}"
    if stage == topology.entry:
        yield "submit"
    for sender in topology.stages:
        if stage.consumes in sender.next_streams:
            yield sender.consumes


def _of_client(topology: Topology) -> Iterator[Grant]:
    results = tuple(_any(f"results.{outcome}") for outcome in OUTCOMES)
    yield _NAMING_KEYS
    yield Grant(("get",), (LANES,), writes=False)
    yield Grant(("xadd", "type"), (_any(topology.entry.consumes),), reads=False)
    yield Grant(("zscore", "zcard", "zadd", "type"), (_any("open"),))
    yield Grant(("hincrby", "type"), (_any("counters"),))
    yield Grant(("get", "set", "pexpire"), (_any("idem:*"),))
    yield Grant(("set", "unlink"), (_any("blob:submit:*"),), reads=False)
    yield Grant(("xread", "xrange", "xrevrange"), (*results, _any("events")), writes=False)
    yield Grant(("get",), (_any("result:*"),), writes=False)
    work = tuple(map(_any, topology.work_streams))  # who lives, not what they work on
    yield Grant(("xinfo|consumers",), work, writes=False)
    yield _who_lives(topology)


def _who_lives(topology: Topology) -> Grant:
    """To see which stages have workers."""
    alive = tuple(_any(f"{stage.name}:alive:*") for stage in topology.stages)
    return Grant(("exists",), alive, writes=False)


def _of_observer(topology: Topology) -> Iterator[Grant]:
    """What `status` asks: how much there is, how old, who lives. It writes nothing.

    No command tells how old an entry is without what is in it, so whoever looks could read what waits.
    """
    yield Grant(("get",), (LANES,), writes=False)
    work = tuple(map(_any, topology.work_streams))
    yield Grant(("xlen", "xrange", "xinfo|stream", "xinfo|consumers"), work, writes=False)
    yield Grant(("zcard",), (_any("open"), *(f"{key}:delayed" for key in work)), writes=False)
    yield Grant(("xlen",), (_any("dead"),), writes=False)
    yield Grant(("hgetall",), (_any("counters"),), writes=False)
    yield _who_lives(topology)


def _of_scaler(topology: Topology) -> Iterator[Grant]:
    """How long work streams are."""
    yield Grant(("xlen",), tuple(map(_any, topology.work_streams)), writes=False)
