"""Where a server's URL leads: one server, a Sentinel set or a cluster. Connects to nothing.

redis://[user:password@]host[:port][/db]                rediss:// with TLS, unix:// by a socket
redis+sentinel://[…@]sentinel[:port],…/service[/db]     the Sentinels; TLS: rediss+sentinel://
redis+cluster://[…@]node[:port],…                       some nodes of a cluster; TLS: rediss+cluster://
"""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlencode

from contracts import Misconfigured

Kind = Literal["single", "sentinel", "cluster"]

SCHEMES = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
_PORTS = {"sentinel": 26379, "cluster": 6379}
_SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password")


@dataclass(frozen=True)
class Node:
    """A server of several."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Address:
    """What a URL says. `driver_url` is one of redis-py's, with credentials and options: never print it."""

    kind: Kind
    driver_url: str = field(repr=False)
    nodes: tuple[Node, ...] = ()
    """Whom to ask where the servers are; none for a single one."""
    service: str = ""
    """The name of the primary that the Sentinels watch."""
    sentinel_options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """User and password of the Sentinels themselves."""

    @property
    def is_replicated(self) -> bool:
        """Whether there are servers of which a replica may take over."""
        return self.kind != "single"

    @property
    def scheme(self) -> str:
        """How any of its servers is spoken to: `redis://`, `rediss://` or `unix://`."""
        return self.driver_url.partition("://")[0] + "://"


def parse_address(url: str) -> Address:
    """What a URL says; Misconfigured names the rule that it breaks, and nothing of the URL."""
    scheme, separator, rest = url.partition("://")
    base, _, kind = scheme.lower().partition("+")
    if not separator or base not in ("redis", "rediss", "unix"):
        raise Misconfigured(f"the server's URL must begin {SCHEMES}")
    if not kind:
        return Address("single", url)
    if base == "unix" or kind not in _PORTS:
        raise Misconfigured(f"the server's URL must begin {SCHEMES}")
    rest, _, query = rest.partition("?")
    netloc, _, path = rest.partition("/")
    credentials, _, hosts = netloc.rpartition("@")
    nodes = tuple(_node(host, _PORTS[kind]) for host in hosts.split(",") if host)
    if not nodes:
        raise Misconfigured(
            f"the server's URL must name a host: {base}+{kind}://host:{_PORTS[kind]}"
        )
    words = [unquote(word) for word in path.split("/") if word]
    options = parse_qsl(query, keep_blank_values=True)
    driver = f"{base}://{credentials}@{nodes[0]}" if credentials else f"{base}://{nodes[0]}"
    kept = [pair for pair in options if pair[0] not in _SENTINEL_OPTIONS]
    tail = f"?{urlencode(kept)}" if kept else ""
    if kind == "cluster":
        if words not in ([], ["0"]):
            raise Misconfigured("a cluster has database 0 alone: end its URL after the hosts")
        return Address("cluster", f"{driver}{tail}", nodes)
    if not 1 <= len(words) <= 2 or (len(words) == 2 and not words[1].isdigit()):
        raise Misconfigured(
            f"the URL of a Sentinel set ends with its service: {base}+sentinel://host:26379/mymaster[/db]"
        )
    own = tuple(
        (name.removeprefix("sentinel_"), value)
        for name, value in options
        if name in _SENTINEL_OPTIONS
    )
    database = words[1] if len(words) == 2 else "0"
    return Address("sentinel", f"{driver}/{database}{tail}", nodes, words[0], own)


def _node(text: str, port: int) -> Node:
    """`host`, `host:port` or `[ipv6]:port`."""
    host, _, after = text.removeprefix("[").partition("]")
    if not text.startswith("["):
        host, colon, number = text.partition(":")
    else:
        colon, number = after[:1], after[1:]
    if not host or (colon and not (number.isascii() and number.isdigit() and int(number) < 65536)):
        raise Misconfigured("the server's URL must have valid hosts and ports: host:port,host:port")
    return Node(host, int(number) if colon else port)
