"""Where a server's URL leads: one server, a Sentinel set or a cluster. Connects to nothing.

redis://[user:password@]host[:port][/db]                rediss:// with TLS, unix:// by a socket
redis+sentinel://[…@]sentinel[:port],…/service[/db]     the Sentinels; TLS: rediss+sentinel://
redis+cluster://[…@]node[:port],…                       some nodes of a cluster; TLS: rediss+cluster://
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from .errors import Misconfigured

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
    try:
        return read_address(url)
    except ValueError as error:
        raise Misconfigured(f"the server's URL {error}") from None


def read_address(url: str) -> Address:
    """The same with a ValueError, the rule alone: for who names what holds the URL."""
    scheme, separator, rest = url.partition("://")
    base, plus, kind = scheme.lower().partition("+")
    if (
        not separator
        or base not in ("redis", "rediss", "unix")
        or (plus and (kind not in _PORTS or base == "unix"))
    ):
        raise ValueError(f"must begin {SCHEMES}")
    place, _, query = rest.partition("?")
    if "ssl_" in query:
        raise ValueError("must hold no ssl_ option: certificates are redis_tls_ca, _cert and _key")
    if not plus:
        _check_single(base, place)
        return Address("single", url)
    netloc, _, path = place.partition("/")
    credentials, _, hosts = netloc.rpartition("@")
    nodes = tuple(_node(host, _PORTS[kind]) for host in hosts.split(",") if host)
    if not nodes:
        raise ValueError(f"must name a host: {base}+{kind}://host:{_PORTS[kind]}")
    driver = f"{base}://{credentials}@{nodes[0]}" if credentials else f"{base}://{nodes[0]}"
    words = [unquote(word) for word in path.split("/") if word]
    options = parse_qsl(query, keep_blank_values=True)
    if kind == "cluster":
        return _cluster(driver, nodes, words, options)
    return _sentinel(driver, nodes, words, options)


def _check_single(base: str, place: str) -> None:
    if base == "unix":
        if not place.rpartition("@")[2].strip("/"):
            raise ValueError("must name the socket: unix:///path/to/socket")
        return
    if "," in place.partition("/")[0].rpartition("@")[2]:
        raise ValueError("must name one host; several begin redis+sentinel:// or redis+cluster://")
    try:
        parts = urlsplit(f"{base}://{place}")
        host, _ = parts.hostname, parts.port
    except ValueError:  # its message holds a piece of the URL
        raise ValueError("must have a valid host and port") from None
    if not host:
        raise ValueError(f"must name a host: {base}://host:6379/0")


def _cluster(
    driver: str, nodes: tuple[Node, ...], words: list[str], options: Sequence[tuple[str, str]]
) -> Address:
    if words not in ([], ["0"]):
        raise ValueError("must end after the hosts: a cluster has database 0 alone")
    return Address("cluster", f"{driver}{_tail(options)}", nodes)


def _sentinel(
    driver: str, nodes: tuple[Node, ...], words: list[str], options: Sequence[tuple[str, str]]
) -> Address:
    if not 1 <= len(words) <= 2 or (len(words) == 2 and not words[1].isdigit()):
        raise ValueError(
            "must end with what the Sentinels watch: redis+sentinel://host:26379/mymaster[/db]"
        )
    own = [pair for pair in options if pair[0] in _SENTINEL_OPTIONS]
    tail = _tail([pair for pair in options if pair not in own])
    database = words[1] if len(words) == 2 else "0"
    named = tuple((name.removeprefix("sentinel_"), value) for name, value in own)
    return Address("sentinel", f"{driver}/{database}{tail}", nodes, words[0], named)


def _tail(options: Sequence[tuple[str, str]]) -> str:
    return f"?{urlencode(options)}" if options else ""


def _node(text: str, port: int) -> Node:
    """`host`, `host:port` or `[ipv6]:port`."""
    host, _, after = text.removeprefix("[").partition("]")
    if not text.startswith("["):
        host, colon, number = text.partition(":")
    else:
        colon, number = after[:1], after[1:]
    if not host or (colon and not (number.isascii() and number.isdigit() and int(number) < 65536)):
        raise ValueError("must have valid hosts and ports: host:port,host:port")
    return Node(host, int(number) if colon else port)
