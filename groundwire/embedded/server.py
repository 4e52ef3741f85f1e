"""The embedded server as its owner sees it: start, address, stop. Knows no streams, no agents."""

import asyncio
import logging
from pathlib import Path
from types import TracebackType

from contracts.errors import Unreachable

from .folder import Fsync, ServerFolder
from .process import GuardedServer

__all__ = ["EmbeddedServer"]

WATCH_S = 0.25
BACKOFF_LIMIT_S = 5.0
PORT_TRIES = 3  # a port that was free may be taken before the server has it

log = logging.getLogger(__name__)


class EmbeddedServer:
    """A running server on the data of a home, gone within five seconds of this process.

    The guard brings back a server that dies; this class brings back a guard that dies. Both times
    the data, the address and the password stay.
    """

    def __init__(self, folder: ServerFolder, guarded: GuardedServer, *, temporary: bool) -> None:
        self._folder = folder
        self._temporary = temporary
        self._guarded = guarded
        self._stopping = asyncio.Event()
        self._watch = asyncio.create_task(self._keep(), name="embedded-server")

    @classmethod
    async def start(
        cls, home: Path, *, fsync: Fsync = "everysec", temporary: bool = False
    ) -> "EmbeddedServer":
        """A server that answers; Misconfigured without a program, Unreachable with its log.

        A `temporary` home is removed by the guard should this process die without stopping it.
        """
        for _ in range(PORT_TRIES):
            folder = await asyncio.to_thread(ServerFolder.prepare, home, fsync)
            try:
                guarded = await _start(folder, temporary)
                return cls(folder, guarded, temporary=temporary)
            except Unreachable as error:
                if not isinstance(folder.address, int) or "in use" not in str(error):
                    raise
        raise Unreachable(f"no free port on 127.0.0.1 in {PORT_TRIES} tries")

    @property
    def url(self) -> str:
        """Where to connect, password included: never print it."""
        return self._folder.url

    @property
    def url_file(self) -> Path:
        """The 0600 file that holds the URL: what a worker gets as GROUNDWIRE_REDIS_URL_FILE."""
        return self._folder.url_file

    @property
    def pid(self) -> int | None:
        """The server's process; None while it is being started again."""
        return self._folder.pid

    @property
    def guard_pid(self) -> int:
        """The guard's process."""
        return self._guarded.guard_pid

    async def stop(self) -> None:
        """End the server, its data complete on disk; callable more than once."""
        self._stopping.set()
        try:
            await self._watch
        finally:
            await asyncio.to_thread(self._guarded.stop)

    async def __aenter__(self) -> "EmbeddedServer":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def _keep(self) -> None:
        delay_s = WATCH_S
        while not await self._stops_within(delay_s):
            if not self._guarded.has_ended():
                delay_s = WATCH_S
                continue
            log.warning("server.guard_lost", extra={"log_file": str(self._folder.log)})
            await asyncio.to_thread(self._guarded.kill)  # where the kernel left the server alive
            try:
                self._guarded = await _start(self._folder, self._temporary)
            except (Unreachable, OSError):
                delay_s = min(delay_s * 2, BACKOFF_LIMIT_S)

    async def _stops_within(self, delay_s: float) -> bool:
        try:
            async with asyncio.timeout(delay_s):
                return await self._stopping.wait()
        except TimeoutError:
            return False


async def _start(folder: ServerFolder, temporary: bool) -> GuardedServer:
    """A guard whose server answers; nothing is left behind when it doesn't, or on cancellation."""
    guarded = GuardedServer(folder, temporary=temporary)
    try:
        await asyncio.to_thread(guarded.await_ready)
    except BaseException:
        guarded.stop()
        raise
    return guarded
