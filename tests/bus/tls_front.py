"""TLS in front of a server that has none: certificates of an authority made here, a listener that passes on."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import trustme

HOST = "localhost"


@dataclass(frozen=True)
class Papers:
    """The files of one authority: what clients trust it by, and a client's certificate with its key."""

    folder: Path
    authority: trustme.CA

    @classmethod
    def make(cls, folder: Path) -> "Papers":
        """A new authority, and a client that it knows."""
        papers = cls(folder, trustme.CA())
        papers.authority.cert_pem.write_to_path(str(papers.ca))
        client = papers.authority.issue_cert("client@example.org")
        client.cert_chain_pems[0].write_to_path(str(papers.cert))
        client.private_key_pem.write_to_path(str(papers.key))
        return papers

    @property
    def ca(self) -> Path:
        """The authority's certificate."""
        return self.folder / "ca.pem"

    @property
    def cert(self) -> Path:
        """The client's certificate."""
        return self.folder / "client.pem"

    @property
    def key(self) -> Path:
        """The client's key."""
        return self.folder / "client.key"

    def context(
        self, certificate: trustme.LeafCert | None = None, *, asks_clients: bool = False
    ) -> ssl.SSLContext:
        """A server's: with a certificate for HOST unless another is given, and asking for the client's or not."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (certificate or self.authority.issue_cert(HOST, "127.0.0.1")).configure_cert(context)
        if asks_clients:
            self.authority.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class _Front:
    """Accepts in a thread, and passes on in a thread for each connection: asyncio's listener sends no TLS alerts."""

    def __init__(self, target: str, context: ssl.SSLContext | None) -> None:
        self._target = target
        self._context = context
        self._ear = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._ear.getsockname()[1])

    def close(self) -> None:
        """End every connection and every thread."""
        for end in (self._ear, *tuple(self._open)):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._ear.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._ear.accept()
                self._open.add(client)
                thread = threading.Thread(target=self._serve, args=(client,))
                self._threads.append(thread)
                thread.start()

    def _serve(self, plain: socket.socket) -> None:
        with suppress(OSError), _connected(self._target) as server, self._secured(plain) as client:
            if isinstance(client, ssl.SSLSocket):
                _shake_hands(client)
            _pass_on(client, server)

    def _secured(self, plain: socket.socket) -> socket.socket:
        if self._context is None:
            return plain
        client = self._context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        self._open.discard(plain)
        self._open.add(client)
        return client


@contextmanager
def tls_front(target: str, context: ssl.SSLContext | None) -> Iterator[str]:
    """Listen on loopback, with TLS unless there is no context, and pass on to a server by its URL; the new URL."""
    front = _Front(target, context)
    try:
        yield secured(target, front.port)
    finally:
        front.close()


def secured(target: str, port: int, host: str = HOST) -> str:
    """The URL of a server as its clients see it behind the listener."""
    parts = urlsplit(target)
    user, at, _ = parts.netloc.rpartition("@")
    database = "" if parts.scheme == "unix" else parts.path
    return f"rediss://{user}{at}{host}:{port}{database}"


def _connected(target: str) -> socket.socket:
    parts = urlsplit(target)
    if parts.scheme == "unix":
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(unquote(parts.path))
        return connection
    return socket.create_connection((parts.hostname, parts.port or 6379))


def _shake_hands(client: ssl.SSLSocket) -> None:
    try:
        client.do_handshake()
    except OSError:
        client.shutdown(socket.SHUT_WR)
        while client.recv(1 << 16):  # what is unread at the close takes the alert with it
            pass
        raise


def _pass_on(client: socket.socket, server: socket.socket) -> None:
    other = {client: server, server: client}
    while True:
        held = isinstance(client, ssl.SSLSocket) and client.pending()
        ready = [client] if held else select.select([client, server], [], [])[0]
        for end in ready:
            data = end.recv(1 << 16)
            if not data:
                return
            other[end].sendall(data)
