"""Who owns a home: a lock that the kernel keeps, and a file that says where the owner's system is.

The lock is the truth. The state file only describes; without the lock held it means nothing. The
lock file itself is never deleted, so that no two processes hold it on two files of that name.
"""

import asyncio
import errno
import fcntl
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from contracts.errors import Misconfigured, NoSystem
from groundwire.files import PRIVATE, replace_file

__all__ = ["RunningSystem", "SystemLock", "SystemState", "find_system"]

TAKE_S = 0.25  # a process that only looks holds the lock for microseconds
POLL_S = 0.02


@dataclass(frozen=True)
class SystemState:
    """What the owner tells everyone else here. **Invariant**: `url` holds no password."""

    url: str
    pid: int = field(default_factory=os.getpid)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    url_file: str | None = (
        None  # 0600, holds the URL with its password; None: the user's own server
    )
    docs: str | None = None
    profile: str = "default"
    workers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunningSystem:
    """A system that is up: its description, and the URL to connect to (never print it)."""

    url: str
    state: SystemState


class SystemLock:
    """Ownership of one home. The kernel ends it with the process, so it can't be stale."""

    def __init__(self, home: Path, fd: int) -> None:
        self.home = home
        self._fd = fd

    @classmethod
    async def acquire(cls, home: Path) -> "SystemLock | None":
        """The lock, or None when another process has it (then `find_system`)."""
        _make(home)
        deadline = time.monotonic() + TAKE_S
        while (fd := _try(home, fcntl.LOCK_EX)) is None:
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(POLL_S / 4)
        _state_file(home).unlink(missing_ok=True)  # a killed owner's
        return cls(home, fd)

    def publish(self, state: SystemState) -> None:
        """Tell others that the system is ready."""
        text = json.dumps(asdict(state), indent=2) + "\n"
        replace_file(_state_file(self.home), text.encode(), mode=PRIVATE)

    def release(self) -> None:
        """Give the home up; callable more than once."""
        if self._fd >= 0:
            _state_file(self.home).unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> "SystemLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


async def find_system(home: Path, *, wait_s: float = 15.0) -> RunningSystem | None:
    """The system of this home, or None. One that is just starting is waited for, `wait_s` at most.

    The URL is the full one for an embedded server. For a server of the user's own it is as
    published, without a password: the settings have that.
    """
    deadline = time.monotonic() + wait_s
    while _is_owned(home):
        running = _read(home)
        if running is not None:
            return running
        if time.monotonic() > deadline:
            raise NoSystem(
                f"a system is starting under {home} but isn't ready after {wait_s:g} s: "
                f"see {home / 'server' / 'server.log'} and {home / 'logs'}"
            )
        await asyncio.sleep(POLL_S)
    return None


def _read(home: Path) -> RunningSystem | None:
    """What the owner published; None before that."""
    try:
        state = SystemState(**json.loads(_state_file(home).read_text()))
        url = state.url if state.url_file is None else Path(state.url_file).read_text().strip()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise Misconfigured(
            f"{home} belongs to another user's system: set GROUNDWIRE_HOME"
        ) from error
    except (ValueError, TypeError) as error:
        raise Misconfigured(
            f"{_state_file(home)} was written by another version: stop that system, start it again"
        ) from error
    return RunningSystem(url, state)


def _make(home: Path) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def _is_owned(home: Path) -> bool:
    if not _lock_file(home).exists():
        return False
    fd = _try(home, fcntl.LOCK_SH)
    if fd is not None:
        os.close(fd)
    return fd is None


def _try(home: Path, kind: int) -> int | None:
    """The locked file, or None when the lock is taken."""
    path = _lock_file(home)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError as error:
        os.close(fd)
        if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise Misconfigured(
                f"{home} is on a file system without locks: set GROUNDWIRE_HOME to a local folder"
            ) from error
        raise
    with suppress(FileNotFoundError):
        if os.fstat(fd).st_ino == path.stat().st_ino:
            return fd
    os.close(fd)  # the home was removed meanwhile
    return None


def _lock_file(home: Path) -> Path:
    return home / "lock"


def _state_file(home: Path) -> Path:
    return home / "system.json"
