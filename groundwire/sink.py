"""Where log lines go: taken at once, written by a thread, so that a slow reader of a pipe holds up no loop."""

import atexit
import os
import select
import threading
import time
from collections import deque

__all__ = ["Sink"]

GATHER_S = 0.02
"""What is said within it is written in one piece; who is killed loses as much."""
KEPT = 50_000
"""Lines that wait for a reader who doesn't read; those after them are counted only."""
EXIT_S = 1.0
"""How long an exit waits for such a reader."""
_PIECE = select.PIPE_BUF
"""So many bytes a pipe that is ready takes without blocking."""


class Sink:
    """Lines on their way to a file descriptor. **Invariant**: each is written once, whole, in the order of `put`."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: deque[bytes] = deque()
        self._begun = b""
        """What is left of a piece that its reader hasn't taken whole."""
        self._dropped = 0
        self._filled = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        atexit.register(self.flush)

    def put(self, line: bytes) -> None:
        """Take a line without its end. For any thread."""
        if len(self._lines) >= KEPT:
            self._dropped += 1
            return
        self._lines.append(line)
        if not self._filled.is_set():
            self._filled.set()
            self._be_written()

    def flush(self, within_s: float = EXIT_S) -> None:
        """Write what there is, now; gives up on a reader that doesn't read."""
        deadline = time.monotonic() + within_s
        if self._writing.acquire(timeout=within_s):
            try:
                self._write(deadline)
            finally:
                self._writing.release()

    def _be_written(self) -> None:
        """A thread doesn't survive a fork: started at the first line of each process."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="log", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._filled.wait()
            time.sleep(GATHER_S)
            self._filled.clear()  # before the writing: a line that comes meanwhile sets it again
            with self._writing:
                self._write(None)

    def _write(self, deadline: float | None) -> None:
        while self._begun or self._lines:
            if not self._begun:
                self._begun = self._next()
            self._begun = _unwritten(self._fd, self._begun, deadline)
            if self._begun:
                return

    def _next(self) -> bytes:
        lines = [self._lines.popleft() for _ in range(min(len(self._lines), 1000))]
        if self._dropped:
            lines.append(b'{"event":"log.dropped","level":"warning","lines":%d}' % self._dropped)
            self._dropped = 0
        return b"\n".join(lines) + b"\n"


def _unwritten(fd: int, data: bytes, deadline: float | None) -> bytes:
    """Write all of it as its reader takes it; what that hasn't taken in time. Nothing is left where it is gone."""
    ready = select.poll()
    ready.register(fd, select.POLLOUT)
    view = memoryview(data)
    while view:
        left_ms = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        try:
            if not ready.poll(left_ms):
                break
            view = view[os.write(fd, view[:_PIECE]) :]
        except BlockingIOError:
            continue
        except OSError:
            return b""
    return bytes(view)
