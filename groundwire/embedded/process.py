"""The owner's end of a guarded server: start the guard, ask whether the server is ready, end both.

Blocking calls; `server.py` keeps them off the event loop. AUTH, PING and FLUSHALL are spelled here
because a readiness check must not cost the import of a client.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from contracts.errors import Unreachable

from . import guard
from .binary import find_binary
from .folder import Address, ServerFolder

__all__ = ["GuardedServer", "ask", "call", "is_running"]

READY_S = 10.0
LOADING_S = 300.0  # a server that says LOADING is alive and reads its data
STOP_S = 6.0


class GuardedServer:
    """A guard process with its server, held by a pipe: it lives as long as this process."""

    def __init__(
        self, folder: ServerFolder, *, temporary: bool = False, runs_as: str | None = None
    ) -> None:
        self.folder = folder
        program = find_binary()
        if runs_as is not None:
            link = folder.path / runs_as
            link.unlink(missing_ok=True)
            link.symlink_to(program)
            program = link
        # Its file, not its module: no import path can shadow or slow it.
        command = [sys.executable, "-I", "-S", guard.__file__, str(folder.path), str(program)]
        if temporary:
            command.append(str(folder.path.parent))
        ear, self._pipe = os.pipe()
        try:
            with self.folder.log.open("ab") as log:
                self._guard = subprocess.Popen(
                    command,
                    stdin=ear,
                    stdout=log,
                    stderr=log,
                    cwd=folder.path,
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(ear)

    @property
    def guard_pid(self) -> int:
        """The guard's process."""
        return self._guard.pid

    def has_ended(self) -> bool:
        """Whether the guard is gone, and the server with it."""
        return self._guard.poll() is not None

    def await_ready(self) -> None:
        """Return when the server answers; Unreachable with the log's last lines if it doesn't."""
        deadline = time.monotonic() + READY_S
        loading = time.monotonic() + LOADING_S
        while time.monotonic() < deadline:
            reply = call(self.folder.address, self.folder.password, "PING")
            if reply == b"+PONG":
                with suppress(BrokenPipeError):  # the guard died just now: the owner will see
                    os.write(self._pipe, guard.READY)
                return
            if reply.startswith(b"-LOADING"):
                deadline = min(time.monotonic() + READY_S, loading)
            if self.has_ended():
                break
            time.sleep(0.003)
        raise Unreachable(
            f"the embedded server didn't start; the end of {self.folder.log}:\n"
            f"{self.folder.log_tail()}"
        )

    def ask_to_stop(self) -> None:
        """Begin an orderly end; `has_ended` tells when it is over."""
        if self._pipe >= 0:
            with suppress(BrokenPipeError):
                os.write(self._pipe, guard.STOP)
            os.close(self._pipe)
            self._pipe = -1

    def stop(self) -> None:
        """End server and guard, whatever state they are in; callable more than once."""
        self.ask_to_stop()
        try:
            self._guard.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill -9 the guard and the server, at once."""
        pid = self.folder.pid
        with suppress(ProcessLookupError):
            os.killpg(self._guard.pid, signal.SIGKILL)  # the guard leads a session of these two
        self._guard.wait()
        self.ask_to_stop()
        while pid is not None and is_running(pid):
            time.sleep(0.002)
        (self.folder.path / "pid").unlink(missing_ok=True)


def call(address: Address, password: str, *command: str, timeout_s: float = 1.0) -> bytes:
    """The first line of the server's reply to one command; empty when there is no answer."""
    try:
        with _connect(address, timeout_s) as connection:
            connection.sendall(_spell("AUTH", password) + _spell(*command))
            with connection.makefile("rb") as replies:
                greeting = replies.readline().strip()
                return replies.readline().strip() if greeting == b"+OK" else greeting
    except OSError:
        return b""


def ask(address: Address, password: str, *command: str, timeout_s: float = 1.0) -> list[str]:
    """What the server's reply to one command holds, flat: one text or all of a list; none without an answer."""
    try:
        with _connect(address, timeout_s) as connection:
            connection.sendall(_spell("AUTH", password) + _spell(*command))
            with connection.makefile("rb") as replies:
                return list(_texts(replies)) if replies.readline() == b"+OK\r\n" else []
    except OSError:
        return []


def _texts(replies: BinaryIO) -> Iterator[str]:
    line = replies.readline().strip().decode()
    match line[:1]:
        case "$":
            yield replies.read(int(line[1:]) + 2)[:-2].decode()
        case "*":
            for _ in range(int(line[1:])):
                yield from _texts(replies)
        case _:
            yield line


def _connect(address: Address, timeout_s: float) -> socket.socket:
    if isinstance(address, int):
        return socket.create_connection(("127.0.0.1", address), timeout_s)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout_s)
        connection.connect(str(address))
    except BaseException:
        connection.close()
        raise
    return connection


def _spell(*words: str) -> bytes:
    raw = [word.encode() for word in words]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in raw)


def is_running(pid: int) -> bool:
    """Whether the process still runs; a zombie, dead but not collected, doesn't."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return True
