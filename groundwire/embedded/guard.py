"""The small process between owner and server: `guard.py FOLDER PROGRAM [HOME]`, a pipe on stdin.

It starts the server again when that dies, and ends it when the owner is gone, however that ended.
Only the standard library, run as a plain file: nothing may slow it, shadow it or fail to import.

The owner writes one byte a word: READY once the server has answered, STOP for an orderly end. The
end of the pipe without STOP means that the owner died. A HOME given is temporary: the guard removes
it when the owner, whose task that is, died.
"""

import ctypes
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

READY, STOP = b"r", b"s"

RELEASE_S = 1.5  # for workers to give back their work once the owner is gone
END_S = 2.0  # for the server after SIGTERM; RELEASE_S + END_S stays under the promised 5 s
STEADY_S = 5.0  # a life this long forgives earlier deaths
BACKOFF_S = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0)
LOCK_S = 15.0  # for the guard of a killed owner to finish
PR_SET_PDEATHSIG = 1

FAILED_TO_START, LOCKED_OUT = 3, 4


class Guard:
    """One server and the pipe it lives by."""

    def __init__(self, folder: Path, program: str, lock: int) -> None:
        self.folder = folder
        self.command = [program, str(folder / "server.conf")]
        self.lock = lock
        self.server: subprocess.Popen[bytes] | None = None
        self.started = 0.0
        self.deaths = 0
        self.ready = False
        self.waker, waker_end = os.pipe()
        os.set_blocking(waker_end, False)
        os.set_blocking(self.waker, False)
        signal.set_wakeup_fd(waker_end, warn_on_full_buffer=False)
        self.told_to_stop = False
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _terminate(self, *_: object) -> None:
        self.told_to_stop = True

    def run(self) -> int:
        """Keep the server alive as long as the pipe; the exit code of this process."""
        while True:
            delay = BACKOFF_S[min(self.deaths, len(BACKOFF_S) - 1)] if self.deaths else 0.0
            if not self._wait(delay):
                return self._end()
            self._start()
            if not self._wait(None):
                return self._end()
            assert self.server is not None
            self._say(f"the server ended with code {self.server.returncode}")
            if not self.ready:
                return FAILED_TO_START
            self.deaths = 1 if time.monotonic() - self.started > STEADY_S else self.deaths + 1

    def _start(self) -> None:
        self.started = time.monotonic()
        me = os.getpid()
        self.server = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
            pass_fds=[self.lock],
            # Single-threaded here, so code between fork and exec is safe.
            preexec_fn=lambda: _die_with_parent(me),
        )
        draft = self.folder / "pid.new"
        draft.write_text(f"{self.server.pid}\n")
        draft.replace(self.folder / "pid")

    def _wait(self, limit_s: float | None) -> bool:
        """Wait until the server ends or the time is up (True), or this guard shall end (False)."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        while not self.told_to_stop:
            if limit_s is None and self.server is not None and self.server.poll() is not None:
                return True
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return True
            readable, _, _ = select.select([0, self.waker], [], [], left)
            if self.waker in readable:
                os.read(self.waker, 4096)
            if 0 in readable and not self._listen():
                return False
        return False

    def _listen(self) -> bool:
        words = os.read(0, 64)
        self.ready = self.ready or READY in words
        self.told_to_stop = STOP in words
        return bool(words) and not self.told_to_stop

    def _end(self) -> int:
        server = self.server
        if server is None:
            return 0
        if self.ready and not self.told_to_stop and server.poll() is None:
            time.sleep(RELEASE_S)
        server.terminate()
        try:
            server.wait(END_S)
        except subprocess.TimeoutExpired:
            self._say("the server didn't end in time and was killed")
            server.kill()
            server.wait()
        (self.folder / "pid").unlink(missing_ok=True)
        return 0

    def _say(self, text: str) -> None:
        os.write(2, f"guard: {text}\n".encode())


def _die_with_parent(parent: int) -> None:
    """Linux: the kernel kills the server with its guard, should that be killed itself."""
    if sys.platform == "linux":
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


_LIBC = ctypes.CDLL(None)


def _take_lock(path: Path) -> int | None:
    """The data's lock. The server inherits it, so the kernel holds it until both are gone."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                return None
        readable, _, _ = select.select([0], [], [], 0.02)
        if readable:  # nothing is said before READY, so this is STOP or the end
            return None


def main() -> int:
    """Guard the server of a folder until the pipe on stdin ends."""
    folder, program = Path(sys.argv[1]), sys.argv[2]
    os.umask(0o077)
    lock = _take_lock(folder / "lock")
    if lock is None:
        os.write(2, b"guard: another server has this folder's data\n")
        return LOCKED_OUT
    guard = Guard(folder, program, lock)
    code = guard.run()
    if len(sys.argv) > 3 and not guard.told_to_stop:
        shutil.rmtree(sys.argv[3], ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
