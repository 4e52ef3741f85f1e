"""Connections: one command at a time, never retried by the driver, dropped when a reply may be under way."""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, Protocol

import redis
import redis.asyncio as aioredis
from hiredis import pack_command
from redis import exceptions as errors
from redis.backoff import NoBackoff
from redis.retry import Retry

from contracts import Misconfigured, Unreachable

from .tls import Tls, causes, connection_classes, why_tls_failed

Arg = str | bytes | int


class Refused(errors.NoPermissionError, Misconfigured):
    """This user of the server may not do that. A ResponseError too: who waits for the server to relent waits on."""


class Backend(Protocol):
    """Where the server is: makes connections to it. Tests put fakeredis behind this."""

    def pool(self, timeout_s: float) -> aioredis.ConnectionPool:
        """A pool whose connections give up on connecting after `timeout_s` seconds, but never on a reply."""
        ...

    def sync_client(self, timeout_s: float) -> redis.Redis:
        """A blocking client for the beat thread."""
        ...


class UrlBackend:
    """A server by its URL: redis://, rediss:// (TLS) or unix://."""

    def __init__(self, url: str, tls: Tls | None = None) -> None:
        self._url = url
        self._context = (tls or Tls()).context() if url.startswith("rediss:") else None

    def pool(self, timeout_s: float) -> aioredis.ConnectionPool:
        """A pool of RESP2 connections without driver retries."""
        try:
            pool = aioredis.ConnectionPool.from_url(
                self._url,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=None,  # the wire's: the driver's own makes a task of each send
                **_options(timeout_s),
            )
        except ValueError as error:
            raise Misconfigured(
                "the server's URL must begin redis://, rediss:// or unix://"
            ) from error
        self._secure(pool)
        return pool

    def sync_client(self, timeout_s: float) -> redis.Redis:
        """A client with the same options for a thread, giving up on a reply after `timeout_s`."""
        pool = redis.ConnectionPool.from_url(
            self._url, socket_timeout=timeout_s, **_options(timeout_s)
        )
        self._secure(pool)
        return redis.Redis(connection_pool=pool)

    def _secure(self, pool: aioredis.ConnectionPool | redis.ConnectionPool) -> None:
        if self._context is not None:
            asynchronous, blocking = connection_classes
            is_blocking = isinstance(pool, redis.ConnectionPool)
            pool.connection_class = blocking if is_blocking else asynchronous
            pool.connection_kwargs["context"] = self._context


def _options(timeout_s: float) -> dict[str, Any]:
    return {
        "protocol": 2,
        "socket_connect_timeout": min(0.9 * timeout_s, 5.0),  # before the wire's: it knows why
        "legacy_responses": True,
    }


_PUTTING = frozenset({"adopt", "overdue", "replay", "settle", "submit", "tick"})
"""The scripts that add entries to work streams, by the function in put.lua."""


@cache
def script_source(name: str) -> str:
    """The text of a Lua script of this package, behind what it needs."""
    source = resources.files("bus").joinpath("scripts", f"{name}.lua").read_text()
    return script_source("put") + source if name in _PUTTING else source


@cache
def script_sha(name: str) -> str:
    """The SHA-1 that the server knows a script by."""
    return hashlib.sha1(script_source(name).encode(), usedforsecurity=False).hexdigest()


class Wire:
    """One connection. A call that is cancelled or fails drops it, so that no reply is ever mixed up."""

    def __init__(self, backend: Backend, timeout_s: float) -> None:
        self._pool = backend.pool(timeout_s)
        self._timeout_s = timeout_s
        self._connection: Any = None
        self._lock = asyncio.Lock()
        self.connection_number = 0
        """Counts the connections made: the same number before and after means the same connection."""

    async def call(self, *args: Arg) -> Any:
        """Send one command and return its raw reply; Unreachable if there was none."""
        async with self._lock:
            try:
                async with asyncio.timeout(self._timeout_s):
                    connection = self._connection or await self._connect()
                    await connection.send_packed_command(pack_command(args))  # type: ignore[arg-type]
                    return await connection.read_response()
            except (
                errors.ConnectionError,
                errors.TimeoutError,
                errors.InvalidResponse,
                OSError,
            ) as error:
                await self._drop()
                raise Unreachable(f"no reply to {args[0]!s}: {self._why(error)}") from error
            except errors.ResponseError as error:
                if not _is_denial(error):
                    raise
                raise Refused(
                    f"this user of the server may not {args[0]!s}: {error}; "
                    "`groundwire acl` lists the users and what each may do"
                ) from error
            except BaseException:
                await self._drop()
                raise

    def _why(self, error: Exception) -> str:
        if isinstance(error, errors.InvalidResponse):
            return f"what answers is no Redis server, or wants TLS (rediss://): {error}"
        return why_tls_failed(error) or str(error) or f"nothing within {self._timeout_s:g} s"

    async def script(self, name: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
        """Run a script by its digest; a server that has forgotten it gets the source."""
        try:
            return await self.call("EVALSHA", script_sha(name), len(keys), *keys, *args)
        except errors.NoScriptError:
            return await self.call("EVAL", script_source(name), len(keys), *keys, *args)

    async def _connect(self) -> Any:
        self._connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        try:
            await self._connection.connect()
        except errors.ConnectionError as error:
            if not _was_shut(error):
                raise
            secured = isinstance(self._connection, aioredis.SSLConnection)
            wanted = "another certificate of its clients" if secured else "TLS (rediss://)"
            raise errors.ConnectionError(f"it hung up: does it want {wanted}?") from error
        self.connection_number += 1
        return self._connection

    async def close(self) -> None:
        """Close the connection; a later call opens a new one."""
        await self._drop()
        await self._pool.disconnect()

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


def _was_shut(error: errors.ConnectionError) -> bool:
    """Whether the other side took the connection and ended it."""
    is_reset = any(isinstance(cause, ConnectionResetError) for cause in causes(error))
    return is_reset or "closed by server" in str(error)


def _is_denial(error: errors.ResponseError) -> bool:
    """Whether a user's rights were the reason; a script's command is denied under another code."""
    return isinstance(error, errors.NoPermissionError) or str(error).startswith("ACL failure")


def is_wrong_type(error: errors.ResponseError) -> bool:
    """Whether a key holds another type than the command needs: a stranger put it there, and may put it right."""
    return str(error).startswith("WRONGTYPE")


def text(value: bytes | str) -> str:
    """A reply's bytes as text."""
    return value.decode() if isinstance(value, bytes) else value
