"""The server's folder: its layout, its configuration, its password. Every secret in it is 0600.

home/server/            0700
    server.conf         what the server reads; holds the password, which is on no command line
    password, url       for redis-cli, and for a process given GROUNDWIRE_REDIS_URL_FILE
    valkey.sock         where the path is short enough, else a loopback port
    appendonlydir/      the data
    lock                held by guard and server: the data has one writer
    pid, server.log, server.log.1
"""

import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from groundwire.files import PRIVATE, replace_file

__all__ = ["Fsync", "Part", "ServerFolder", "free_port", "keeping"]

Fsync = Literal["everysec", "always"]
SOCKET_PATH_LIMIT = 100  # bytes; the kernel's own limit is 104 on macOS and 108 on Linux
Address = Path | int  # a unix socket, or a port on loopback


@dataclass(frozen=True)
class Part:
    """What a server is one of: they share a password, listen on ports of loopback, and need more configuration."""

    password: str
    port: int
    lines: tuple[str, ...]
    """Of its configuration, in place of those that keep its data."""
    runs_as: str | None = None
    """The name that its program goes by, where that decides what it is."""


@dataclass(frozen=True)
class ServerFolder:
    """One server's files, address and password, written and ready to start from."""

    path: Path
    address: Address
    password: str

    @classmethod
    def prepare(
        cls, home: Path, fsync: Fsync = "everysec", part: Part | None = None
    ) -> "ServerFolder":
        """Write a fresh configuration, with a new password, beside data that is kept."""
        path = home.absolute() / "server"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
        if part is None:
            folder = cls(path, _address_in(path), secrets.token_urlsafe(24))
        else:
            folder = cls(path, part.port, part.password)
        _rotate(folder.log)
        more = keeping(fsync) if part is None else part.lines
        replace_file(path / "server.conf", folder._configuration(more).encode(), mode=PRIVATE)
        replace_file(path / "password", f"{folder.password}\n".encode(), mode=PRIVATE)
        replace_file(path / "url", f"{folder.url}\n".encode(), mode=PRIVATE)
        return folder

    @property
    def url(self) -> str:
        """Where a client connects, password included."""
        if isinstance(self.address, Path):
            return f"unix://:{self.password}@{quote(str(self.address))}"
        return f"redis://:{self.password}@127.0.0.1:{self.address}/0"

    @property
    def url_file(self) -> Path:
        """The 0600 file that holds the URL."""
        return self.path / "url"

    @property
    def log(self) -> Path:
        """What the server and its guard say."""
        return self.path / "server.log"

    @property
    def pid(self) -> int | None:
        """The server's process, as its guard wrote it down; None between two lives."""
        try:
            return int((self.path / "pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def log_tail(self, lines: int = 12) -> str:
        """The last lines of the log, for an error message."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return ""

    def _configuration(self, more: Sequence[str]) -> str:
        if isinstance(self.address, Path):
            where = ["port 0", f"unixsocket {_quoted(self.address)}", "unixsocketperm 600"]
        else:
            where = [f"port {self.address}", "bind 127.0.0.1"]
        lines = [
            *where,
            "protected-mode yes",
            f"requirepass {_quoted(self.password)}",
            f"dir {_quoted(self.path)}",
            "daemonize no",
            'logfile ""',
            *more,
        ]
        return "\n".join(lines) + "\n"


def keeping(fsync: Fsync) -> tuple[str, ...]:
    """How a server keeps its data."""
    return ("appendonly yes", f"appendfsync {fsync}", 'save ""', "maxmemory-policy noeviction")


def _address_in(folder: Path) -> Address:
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) < SOCKET_PATH_LIMIT and _takes_sockets(folder):
        return path
    return free_port()


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _takes_sockets(folder: Path) -> bool:
    """Whether the file system has unix sockets at all: some mounted ones don't."""
    path = folder / "s"  # shorter than the real one
    path.unlink(missing_ok=True)
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(path))
    except OSError:
        return False
    finally:
        path.unlink(missing_ok=True)
    return True


def _quoted(value: str | Path) -> str:
    """A string as the server's configuration file spells it: bytes that mean something as \\xHH."""
    raw = os.fsencode(value)
    return '"' + "".join(chr(b) if _plain(b) else f"\\x{b:02x}" for b in raw) + '"'


def _plain(byte: int) -> bool:
    return 0x20 <= byte < 0x7F and byte not in b'"\\'


def _rotate(log: Path) -> None:
    with suppress(FileNotFoundError):
        log.replace(log.with_name(log.name + ".1"))
    os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
