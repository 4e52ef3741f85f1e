"""How connections are made: to one server, a Sentinel set's primary or a cluster's nodes, all by one path.

The only module that constructs the driver's connections.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import redis
import redis.asyncio as aioredis
from redis import exceptions as errors
from redis.backoff import NoBackoff
from redis.retry import Retry

from contracts import Misconfigured
from contracts.address import Node, parse_address

from .finding import ClusterFinder, Finder, SentinelFinder
from .tls import Tls, causes, connection_classes

_NONE: Mapping[str, Any] = {}
_ASK_S = 1.0
"""How long a Sentinel or a node may take to say where a lane is."""


class Backend(Protocol):
    """Where the lanes are: makes connections to them. Tests put fakeredis behind this."""

    @property
    def is_replicated(self) -> bool:
        """Whether a replica may take over: what is to last must be on one."""
        ...

    async def connect(self, lane: int, timeout_s: float, node: Node | None = None) -> Any:
        """A connection to a lane's server, or to `node`, that gives up on connecting after `timeout_s`,
        but never on a reply.
        """
        ...

    def sync_client(self, lane: int, timeout_s: float) -> redis.Redis:
        """A blocking client of a lane's server, for its beat."""
        ...

    def forget(self, lane: int, node: Node | None = None) -> None:
        """The lane isn't where it was found: look again; `node`: it is there."""
        ...


class UrlBackend:
    """A server, a Sentinel set or a cluster by its URL (address.py)."""

    def __init__(self, url: str, tls: Tls | None = None) -> None:
        self._address = parse_address(url)
        is_secure = self._address.driver_url.startswith("rediss:")
        self._context = (tls or Tls()).context() if is_secure else None
        self._finder = self._make_finder()

    @property
    def is_replicated(self) -> bool:
        """Whether a replica may take over."""
        return self._address.is_replicated

    async def connect(self, lane: int, timeout_s: float, node: Node | None = None) -> Any:
        """A RESP2 connection without driver retries."""
        until = asyncio.get_running_loop().time() + 0.95 * timeout_s
        finder = self._finder
        if finder is not None and node is None:
            node = finder.known(lane) or await asyncio.to_thread(finder.find, lane)
        pool = self._secured(_parsed(aioredis.ConnectionPool, self._address.driver_url))
        options = pool.connection_kwargs | {
            "retry": Retry(NoBackoff(), 0),
            "socket_timeout": None,  # the wire's: the driver's own makes a task of each send
            "socket_connect_timeout": min(0.9 * timeout_s, 5.0),  # before the wire's: it knows why
            **_RESP2,
            **_place(node),
        }
        connection = pool.connection_class(**options)
        try:
            async with asyncio.timeout_at(until):  # it too before the wire's
                await connection.connect()
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if isinstance(error, TimeoutError):
                raise errors.TimeoutError(
                    f"{place_of(connection)} took the connection and said nothing"
                ) from error
            if not isinstance(error, errors.ConnectionError) or not _was_shut(error):
                raise
            secured = isinstance(connection, aioredis.SSLConnection)
            wanted = "another certificate of its clients" if secured else "TLS (rediss://)"
            raise errors.ConnectionError(f"it hung up: does it want {wanted}?") from error
        return connection

    def sync_client(self, lane: int, timeout_s: float) -> redis.Redis:
        """A client with the same options for a thread, giving up on a reply after `timeout_s`."""
        finder = self._finder
        node = None if finder is None else finder.known(lane) or finder.find(lane)
        return self._sync_client(node, timeout_s)

    def forget(self, lane: int, node: Node | None = None) -> None:
        """Look again, where there is a choice."""
        if self._finder is not None:
            self._finder.forget(lane, node)

    def _make_finder(self) -> Finder | None:
        address = self._address
        if address.kind == "sentinel":
            own = dict(address.sentinel_options)
            return SentinelFinder(
                address.nodes,
                address.service,
                lambda node: self._sync_client(node, _ASK_S, address.scheme, own),
            )
        _parsed(redis.ConnectionPool, address.driver_url)  # its faults are told at the start
        if address.kind == "cluster":
            return ClusterFinder(address.nodes, lambda node: self._sync_client(node, _ASK_S))
        return None

    def _sync_client(
        self, node: Node | None, timeout_s: float, url: str = "", options: Mapping[str, Any] = _NONE
    ) -> redis.Redis:
        pool = self._secured(_parsed(redis.ConnectionPool, url or self._address.driver_url))
        pool.connection_kwargs |= {**_limits(timeout_s), **_RESP2, **_place(node), **options}
        return redis.Redis(connection_pool=pool)

    def _secured(self, pool: Any) -> Any:
        if self._context is not None:
            asynchronous, blocking = connection_classes
            is_blocking = isinstance(pool, redis.ConnectionPool)
            pool.connection_class = blocking if is_blocking else asynchronous
            pool.connection_kwargs["context"] = self._context
        return pool


def place_of(connection: Any) -> str:
    """Which server a connection is to."""
    path = getattr(connection, "path", None)
    return str(path or Node(str(connection.host), int(connection.port)))


_RESP2 = {"protocol": 2, "legacy_responses": True}


def _limits(timeout_s: float) -> dict[str, Any]:
    """Once more on a connection that has died: what a thread asks may be asked twice."""
    return {
        "retry": Retry(NoBackoff(), 1),
        "socket_timeout": timeout_s,
        "socket_connect_timeout": min(0.9 * timeout_s, 5.0),
    }


def _place(node: Node | None) -> dict[str, Any]:
    return {} if node is None else {"host": node.host, "port": node.port}


def _parsed(pool: Any, url: str) -> Any:
    """A pool for what it has made of a URL, never for its connections."""
    try:
        return pool.from_url(url)
    except (ValueError, errors.RedisError):
        # `from None`: the cause repeats what it didn't like.
        raise Misconfigured(
            "the server's URL must be redis://host:port/db, rediss://… or unix:///path, with options "
            "that redis-py knows"
        ) from None


def _was_shut(error: errors.ConnectionError) -> bool:
    """Whether the other side took the connection and ended it."""
    is_reset = any(isinstance(cause, ConnectionResetError) for cause in causes(error))
    return is_reset or "closed by server" in str(error)
