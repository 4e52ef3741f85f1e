"""Connections: one command at a time, never retried by the driver, dropped when a reply may be under way.

A lane's server may change while it is spoken to: what a node has declined to run goes to the one that it names;
whatever may have run is the caller's to repeat.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from hiredis import pack_command
from redis import exceptions as errors

from contracts import Misconfigured, Unreachable
from contracts.address import Node

from .backend import Backend, place_of
from .pause import Pause
from .tls import why_tls_failed

Arg = str | bytes | int


class Refused(errors.NoPermissionError, Misconfigured):
    """This user of the server may not do that. A ResponseError too: who waits for the server to relent waits on."""


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


_REDIRECTIONS = 5
_MOVING_S = (0.02, 0.2)
"""Between two tries while a lane is moving: at first, at most."""
_ELSEWHERE = (errors.ClusterDownError, errors.ReadOnlyError)
"""What a server says that doesn't serve the lane (any more); MasterDownError is one too."""


class Wire:
    """One connection to a lane's server. A call that is cancelled or fails drops it, so that no reply is mixed up."""

    def __init__(self, backend: Backend, timeout_s: float, lane: int = 0) -> None:
        self._backend = backend
        self._timeout_s = timeout_s
        self.lane = lane
        self._connection: Any = None
        self._lock = asyncio.Lock()
        self.connection_number = 0
        """Counts the connections made: the same number before and after means the same connection."""
        self.ran_elsewhere = False
        """Whether the last call ran where its keys were already, by a connection that is no more."""

    @property
    def is_replicated(self) -> bool:
        """Whether a replica may take over from the server."""
        return self._backend.is_replicated

    async def call(self, *args: Arg) -> Any:
        """Send one command and return its raw reply; Unreachable if there was none, or no server for it now."""
        async with self._lock:
            try:
                self.ran_elsewhere = False
                async with asyncio.timeout(self._timeout_s):
                    try:
                        return await self._exchange(args)
                    except errors.TryAgainError:
                        return await self._exchange_once_moved(args)
            except (
                errors.ConnectionError,
                errors.TimeoutError,
                errors.InvalidResponse,
                OSError,
            ) as error:
                asked = f" from {place_of(self._connection)}" if self._connection else ""
                await self.look_again()
                raise Unreachable(f"no reply to {args[0]!s}{asked}: {self._why(error)}") from error
            except errors.TryAgainError as error:
                raise Unreachable(
                    f"{args[0]!s} has to wait: lane {self.lane} is on its way to another node"
                ) from error
            except errors.ResponseError as error:
                if isinstance(error, _ELSEWHERE) or str(error).startswith("UNBLOCKED"):
                    await self.look_again()
                    raise Unreachable(
                        f"no server takes {args[0]!s} for lane {self.lane} now: {error}"
                    ) from error
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
            reply = await self.call("EVALSHA", script_sha(name), len(keys), *keys, *args)
        except errors.NoScriptError:
            reply = await self.call("EVAL", script_source(name), len(keys), *keys, *args)
        if _is_of_replica(reply):
            await self.look_again()
            raise Unreachable(f"{name} was refused: lane {self.lane}'s server is a replica now")
        return reply

    async def _exchange(self, args: Sequence[Arg]) -> Any:
        for _ in range(_REDIRECTIONS):
            connection = self._connection or await self._connect()
            await connection.send_packed_command(pack_command(args))  # type: ignore[arg-type]
            try:
                return await connection.read_response()
            except errors.MovedError as error:
                if not self._backend.is_replicated:
                    raise Misconfigured(
                        "this server is a node of a cluster: its URL must begin redis+cluster://"
                    ) from error
                await self._drop()
                self._backend.forget(self.lane, _named(error, connection))
            except errors.AskError as error:
                return await self._ask(_named(error, connection), args)
        raise errors.ConnectionError(f"sent on {_REDIRECTIONS} times: the nodes don't agree yet")

    async def _exchange_once_moved(self, args: Sequence[Arg]) -> Any:
        """While a lane's keys are on two nodes neither runs what names several: nothing has run, so it's sent again."""
        pause = Pause(*_MOVING_S)
        until = asyncio.get_running_loop().time() + 0.9 * self._timeout_s - pause.cap_s
        while True:
            await pause.wait()
            try:
                return await self._exchange(args)
            except errors.TryAgainError:
                if asyncio.get_running_loop().time() >= until:
                    raise

    async def _ask(self, node: Node, args: Sequence[Arg]) -> Any:
        """Where a key of the lane is already, while its slot is on the way: this one command, and no more."""
        connection = await self._backend.connect(self.lane, self._timeout_s, node)
        try:
            both = [pack_command(("ASKING",)), pack_command(args)]  # type: ignore[arg-type]
            await connection.send_packed_command(both)
            await connection.read_response()
            reply = await connection.read_response()
            self.ran_elsewhere = True
            return reply
        finally:
            await connection.disconnect(nowait=True)

    async def _connect(self) -> Any:
        self._connection = await self._backend.connect(self.lane, self._timeout_s)
        self.connection_number += 1
        return self._connection

    async def close(self) -> None:
        """Close the connection; a later call opens a new one."""
        await self._drop()

    async def look_again(self) -> None:
        """Leave this server: the next call asks where the lane is."""
        await self._drop()
        self._backend.forget(self.lane)

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


class Wires:
    """A wire for each lane, made when first used."""

    def __init__(self, backend: Backend, timeout_s: float) -> None:
        self._backend = backend
        self._timeout_s = timeout_s
        self._made: dict[int, Wire] = {}

    def __getitem__(self, lane: int) -> Wire:
        wire = self._made.get(lane)
        if wire is None:
            wire = self._made[lane] = Wire(self._backend, self._timeout_s, lane)
        return wire

    async def close(self) -> None:
        """Close them all; a later call opens a new connection."""
        for wire in self._made.values():
            await wire.close()


def _named(error: errors.AskError, connection: Any) -> Node:
    """The node that a redirection names; without a host, on the host that said so."""
    return Node(error.host if error.host not in ("", "?") else str(connection.host), error.port)


def _is_of_replica(reply: Any) -> bool:
    """Whether a script had its first write refused because the server has become a replica meanwhile."""
    first = reply[0] if isinstance(reply, list) and reply else reply
    first = first[0] if isinstance(first, list) and first else first
    return isinstance(first, bytes) and first.startswith(b"REFUSED READONLY")


def _is_denial(error: errors.ResponseError) -> bool:
    """Whether a user's rights were the reason; a script's command is denied under another code."""
    return isinstance(error, errors.NoPermissionError) or str(error).startswith("ACL failure")


def is_wrong_type(error: errors.ResponseError) -> bool:
    """Whether a key holds another type than the command needs: a stranger put it there, and may put it right."""
    return str(error).startswith("WRONGTYPE")


def text(value: bytes | str) -> str:
    """A reply's bytes as text."""
    return value.decode() if isinstance(value, bytes) else value
