"""A server in a temporary folder, for tests and benchmarks: also killed, frozen, revived."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .folder import Fsync, Part, ServerFolder
from .process import GuardedServer, ask, call

__all__ = ["TemporaryServer", "temporary_server"]


class TemporaryServer:
    """A running server, its folder, and what may happen to a server.

    The folder is removed when this process dies without stopping it.
    """

    def __init__(self, home: Path, fsync: Fsync = "everysec", part: Part | None = None) -> None:
        self.home = home
        self._runs_as = None if part is None else part.runs_as
        self._folder = ServerFolder.prepare(home, fsync, part)
        self._guarded: GuardedServer | None = None
        self.start()

    @property
    def url(self) -> str:
        """Where to connect, password included; the same through every kill and start."""
        return self._folder.url

    @property
    def url_file(self) -> Path:
        """The 0600 file that holds the URL."""
        return self._folder.url_file

    @property
    def pid(self) -> int | None:
        """The server's process."""
        return self._folder.pid

    def start(self) -> None:
        """Start on the same data and address, and return when it answers."""
        assert self._guarded is None, "it is running"
        self._guarded = GuardedServer(self._folder, temporary=True, runs_as=self._runs_as)
        try:
            self._guarded.await_ready()
        except BaseException:
            self.stop()
            raise

    def kill(self) -> None:
        """Kill -9 the server, and keep it down until `start`."""
        if self._guarded is not None:
            self._guarded.kill()
            self._guarded = None

    def crash(self) -> None:
        """Kill -9 the server alone: its guard starts it again."""
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    @property
    def is_up(self) -> bool:
        """Whether it was started, and not killed since."""
        return self._guarded is not None

    def ask(self, *command: str) -> str:
        """What it replies to a command, the first text of it; empty when it doesn't."""
        return next(iter(self.ask_all(*command)), "")

    def ask_all(self, *command: str, timeout_s: float = 1.0) -> list[str]:
        """All texts of what it replies to a command."""
        return ask(self._folder.address, self._folder.password, *command, timeout_s=timeout_s)

    def flush(self) -> None:
        """Delete everything in it."""
        reply = call(self._folder.address, self._folder.password, "FLUSHALL", timeout_s=10.0)
        assert reply == b"+OK", reply

    def stop(self) -> None:
        """An orderly end; callable more than once."""
        if self._guarded is not None:
            if self.pid is not None:
                self.thaw()
            self._guarded.stop()
            self._guarded = None

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid
        assert pid is not None, "it isn't running"
        os.kill(pid, number)


@contextmanager
def temporary_server(fsync: Fsync = "everysec") -> Iterator[TemporaryServer]:
    """A server in a temporary folder; both are gone afterwards, whatever happens inside."""
    home = Path(tempfile.mkdtemp(prefix="gw-"))
    try:
        server = TemporaryServer(home, fsync)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)
