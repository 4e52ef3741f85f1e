"""The process that bears workers: `python -m groundwire.forked FD MODULE`, for `groundwire.nursery`.

It imports and opens what workers need, once, and then only forks and waits: what was loaded is shared memory,
and a worker that died is back in milliseconds. No loop and no thread of ours: a lock that another thread holds
at a fork stays locked in the child for ever.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from groundwire.owners import foreign_owner
from groundwire.threads import compute_on_one

STRANGER_EXIT = 2


class Forker:
    """Answers requests with births, and tells of deaths.

    **Invariant**: only this process holds `_life`, whose other end every child watches.
    """

    def __init__(self, connection: socket.socket, program: str) -> None:
        self._connection = connection
        self._program = program
        self._lifeline, self._life = os.pipe()
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Serve until the other side is gone. In a child: never returns, a worker's end is the end of the program."""
        pending = b""
        connection = self._connection.fileno()
        while True:
            ready, _, _ = select.select([connection, self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                for pid, status in _ended():
                    self._tell(pid=pid, code=os.waitstatus_to_exitcode(status))
            if connection in ready:
                chunk = self._connection.recv(65536)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    self._bear(json.loads(line))

    def _bear(self, asked: dict[str, Any]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            self._tell(number=asked["number"], fault=str(error))
            return
        if pid == 0:
            self._live(asked["arguments"], Path(asked["log"]))
        with suppress(ProcessLookupError, PermissionError):  # it was quicker, or is gone already
            os.setpgid(pid, pid)
        self._tell(number=asked["number"], pid=pid)

    def _live(self, arguments: list[str], log_file: Path) -> NoReturn:
        self._let_go()
        _take_place(arguments[0], log_file)
        main = importlib.import_module(self._program).main
        sys.exit(main([*arguments, "--lifeline", str(self._lifeline)]))

    def _let_go(self) -> None:
        """Of all that is the parent's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._connection.close()
        for end in (self._life, self._woken, self._waker):
            os.close(end)

    def _tell(self, **facts: object) -> None:
        try:
            self._connection.sendall(json.dumps(facts).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            sys.exit(0)  # whoever asked is gone: the end of its side is the end of ours


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _take_place(stage: str, log_file: Path) -> None:
    """A process group, an output and a name of its own, as if it had been started by a command."""
    os.setpgid(0, 0)
    output = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    _call_me(stage)


def _call_me(name: str) -> None:
    """What `ps -o comm` shows: the command line is the same for all."""
    Path("/proc/self/comm").write_text(f"gw-{name}")


@contextmanager
def _ending_with(connection: int) -> Iterator[None]:
    """End the process if the other side of its connection goes while it is busy; no thread is left at the end."""
    done, finish = os.pipe()

    def watch() -> None:
        polled = select.poll()
        polled.register(connection, select.POLLRDHUP)
        polled.register(done, 0)  # a hangup is always told
        if any(fd == connection for fd, _ in polled.poll()):
            os._exit(0)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(finish)
        thread.join()
        os.close(done)


def main() -> int:
    """Serve the connection that was inherited, with workers of the module that is named; the exit code."""
    stranger = foreign_owner()
    if stranger is not None:
        sys.stderr.write(f"groundwire: {stranger}\n")
        return STRANGER_EXIT
    compute_on_one()
    signal.signal(
        signal.SIGHUP, signal.SIG_IGN
    )  # a child that is too young to hear it reads anew anyway
    _call_me("nursery")
    connection, program = int(sys.argv[1]), sys.argv[2]
    forker = Forker(socket.socket(fileno=connection), program)
    with _ending_with(connection):
        module = importlib.import_module(program)
        if hasattr(module, "preload"):
            module.preload()
    gc.collect()
    gc.freeze()  # a collection in a child would write to every page that it shares
    forker.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
