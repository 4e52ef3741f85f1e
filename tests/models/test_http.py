"""The `http` embedder, against a server on a free port of this machine."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from contracts import Misconfigured, Permanent, Transient
from groundwire.models.http import Http


@dataclass
class Endpoint:
    """What the server heard, and how it answers."""

    url: str = ""
    status: int = 200
    body: bytes | None = None
    heard: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.heard.append((self.path, self.headers.get("Authorization"), asked))
            rows = [
                {"index": index, "embedding": [3.0, 4.0] if text == "a" else [4.0, 3.0]}
                for index, text in enumerate(asked["input"])
            ]
            body = json.dumps({"data": rows[::-1]}).encode() if state.body is None else state.body
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def test_rows_are_unit_and_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    """Whatever order the reply has; the key goes into one header."""
    http = Http(endpoint.url, "small", key="secret")
    assert np.allclose(http.embed(["a", "bb"]), [[0.6, 0.8], [0.8, 0.6]])
    path, authorization, body = endpoint.heard[0]
    assert (path, authorization) == ("/v1/embeddings", "Bearer secret")
    assert body == {"model": "small", "input": ["a", "bb"]}


def test_many_texts_are_asked_in_batches(endpoint: Endpoint) -> None:
    """So that a request stays small."""
    assert len(Http(endpoint.url, "small").embed(["a"] * 130)) == 130
    assert [len(body["input"]) for _, _, body in endpoint.heard] == [64, 64, 2]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_transient(endpoint: Endpoint, status: int) -> None:
    """The delivery is tried again later."""
    endpoint.status = status
    with pytest.raises(Transient, match=str(status)):
        Http(endpoint.url, "small").embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_permanent_and_names_no_key(endpoint: Endpoint, status: int) -> None:
    """Asking again would not help."""
    endpoint.status = status
    with pytest.raises(Permanent, match=str(status)) as raised:
        Http(endpoint.url, "small", key="secret").embed(["a"])
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"data": []}', b'{"data": [{"index": 0, "embedding": [NaN]}]}'],
)
def test_a_reply_of_another_kind_is_permanent(endpoint: Endpoint, body: bytes) -> None:
    """Never a vector that isn't one."""
    endpoint.body = body
    with pytest.raises(Permanent):
        Http(endpoint.url, "small").embed(["a"])


def test_no_server_is_transient() -> None:
    """Port 9 of this machine: nothing listens there."""
    with pytest.raises(Transient, match="could not be reached"):
        Http("http://127.0.0.1:9/v1", "small", timeout_s=2.0).embed(["a"])


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "ftp://host/x", "http://"])
def test_only_http_urls_are_endpoints(url: str) -> None:
    """Nothing else is opened."""
    with pytest.raises(Misconfigured):
        Http(url, "small")
