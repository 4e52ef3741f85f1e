"""The `http` embedder, against a server on a free port of this machine."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts import Misconfigured, Permanent, RetrievedContext, Transient
from groundwire import profiles
from groundwire.models import Endpoint as Named
from groundwire.models.http import Http
from groundwire.pins import worker_environment
from groundwire.profiles import Profile
from groundwire.settings import load_settings
from groundwire.wiring import Intake, assemble, build_handler, endpoint_of, ingest_corpus
from groundwire.wiring.handlers import Retrieving
from groundwire.wiring.retrieval import asking
from groundwire.wiring.workers import warm


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


def by_http() -> Profile:
    default = profiles.load("default")
    retrieve = default.retrieve.model_copy(update={"embedder": "http"})
    return default.model_copy(update={"retrieve": retrieve})


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("A refund takes 5 days.")
    return folder


async def test_a_profile_embeds_where_the_settings_say(
    endpoint: Endpoint, docs: Path, tmp_path: Path
) -> None:
    """At ingestion and with every question; the key is in the header."""
    named, root = Named(endpoint.url, "small", "secret"), tmp_path / "root"
    ingest_corpus(Intake([docs], root, by_http(), endpoint=named))
    handler = build_handler("retrieve", assemble(by_http(), root, endpoint=named))
    context = await handler(asking("refund"))
    assert isinstance(context, RetrievedContext)
    assert (context.signals, len(context.passages)) == (("keyword", "vectors"), 1)
    assert endpoint.heard[-1] == (
        "/v1/embeddings",
        "Bearer secret",
        {"model": "small", "input": ["refund"]},
    )


async def test_a_worker_that_cannot_reach_its_endpoint_starts_all_the_same(
    endpoint: Endpoint, docs: Path
) -> None:
    """It says so; queries are tried again until it answers."""
    handler = build_handler(
        "retrieve", assemble(by_http(), docs, endpoint=Named(endpoint.url, "small"))
    )
    assert isinstance(handler, Retrieving)
    told: list[str] = []

    def log(event: str, /, **fields: object) -> None:
        told.append(event)

    endpoint.status = 503
    await warm(handler, log)
    assert told == ["worker.cold"]
    endpoint.status = 200
    await warm(handler, log)
    assert len(told) == 1
    assert isinstance(await handler(asking("refund")), RetrievedContext)


def test_without_an_endpoint_the_settings_to_set_are_named(docs: Path, tmp_path: Path) -> None:
    """Before anything is read."""
    with pytest.raises(Misconfigured, match="GROUNDWIRE_EMBEDDINGS_URL"):
        ingest_corpus(Intake([docs], tmp_path / "root", by_http()))


async def test_an_endpoint_is_asked_only_by_a_profile_that_names_it(
    endpoint: Endpoint, docs: Path
) -> None:
    """That it is set opens no connection."""
    named = Named(endpoint.url, "small", "secret")
    await build_handler("retrieve", assemble("fast", docs, endpoint=named))(asking("refund"))
    assert endpoint.heard == []
    assert assemble("fast", docs, endpoint=named).digest == assemble("fast", docs).digest


def test_the_digest_knows_the_endpoint_and_not_the_key(docs: Path) -> None:
    """Another model is another configuration; no key is printed or hashed."""
    one, other = Named("http://h/v1", "small", "secret"), Named("http://h/v1", "large")
    digests = [assemble(by_http(), docs, endpoint=each).digest for each in (one, other)]
    assert digests[0] != digests[1]
    keyless = assemble(by_http(), docs, endpoint=Named("http://h/v1", "small"))
    assert digests[0] == keyless.digest
    assert "secret" not in repr(one)


def test_the_settings_name_the_endpoint(tmp_path: Path) -> None:
    """URL and model both, the key if there is one, also from a file."""
    (tmp_path / "key").write_text("secret\n")
    env = {
        "GROUNDWIRE_EMBEDDINGS_URL": "https://host/v1",
        "GROUNDWIRE_EMBEDDINGS_MODEL": "small",
        "GROUNDWIRE_EMBEDDINGS_KEY_FILE": "key",
    }
    settings = load_settings(env, tmp_path)
    assert endpoint_of(settings) == Named("https://host/v1", "small", "secret")
    assert endpoint_of(load_settings({}, tmp_path)) is None
    assert "secret" not in f"{settings!r} {settings.model_dump_json()} {settings.redacted()}"
    assert settings.redacted()["embeddings_key"] == "***"
    assert "GROUNDWIRE_EMBEDDINGS_KEY" not in worker_environment(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("URL", "ftp://secret"),
        ("URL", "http://user:secret@host/v1"),
        ("URL", "http://host/v1?key=secret"),
        ("KEY", "sec ret"),
        ("KEY", "secret\nX-Header: 1"),
    ],
)
def test_a_bad_setting_is_refused_without_repeating_it(
    tmp_path: Path, name: str, value: str
) -> None:
    """A key pasted into the wrong place is not printed."""
    with pytest.raises(Misconfigured, match=f"GROUNDWIRE_EMBEDDINGS_{name}: must") as refused:
        load_settings({f"GROUNDWIRE_EMBEDDINGS_{name}": value}, tmp_path)
    assert "sec" not in str(refused.value)
