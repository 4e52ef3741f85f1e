"""Answers `/livez`, `/readyz` and `/metrics` on a port of this process's own.

From a thread: a loop that is stuck must not keep anyone from hearing so. It knows neither bus nor metrics, only
whom to ask.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer

from contracts.errors import Misconfigured

__all__ = ["Answers", "listening"]

Faults = Callable[[], list[str]]
PORTS_TRIED = 64
POLL_S = 0.1
"""How soon the thread notices that it should end."""
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Answers:
    """Whom to ask. No fault is a yes; `metrics` gives its content type and its text."""

    live: Faults
    ready: Faults
    metrics: Callable[[], tuple[str, bytes]]


@contextmanager
def listening(host: str, port: int, answers: Answers) -> Iterator[int]:
    """Answer until the block ends, on this port or the next free one above it; which one that is."""
    server = _bind(host, port, answers)
    thread = threading.Thread(
        target=server.serve_forever, args=(POLL_S,), name="health", daemon=True
    )
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _bind(host: str, port: int, answers: Answers) -> ThreadingHTTPServer:
    class Handler(_Handler):
        asked = answers

    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            return _Server((host, candidate), Handler)
        except OSError as error:
            reason = error.strerror
    raise Misconfigured(f"no port from {port} on can be had on {host}: {reason}")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True  # after a restart, not beside another: that one is listening

    def server_bind(self) -> None:
        """Without the look-up of our own name, which a network without DNS answers late."""
        TCPServer.server_bind(self)
        host, self.server_port = self.server_address[:2]
        self.server_name = str(host)

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: who asked has hung up, and its traceback would stand between the lines of the log."""


class _Handler(BaseHTTPRequestHandler):
    asked: Answers
    timeout = 5

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/livez":
                self._say(self.asked.live())
            case "/readyz":
                self._say(self.asked.ready())
            case "/metrics":
                self._send(200, *self.asked.metrics())
            case _:
                self._send(404, TEXT, b"/livez, /readyz, /metrics\n")

    def _say(self, faults: list[str]) -> None:
        text = "\n".join(faults) or "ok"
        self._send(503 if faults else 200, TEXT, f"{text}\n".encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Probes come every few seconds: nothing is logged."""
