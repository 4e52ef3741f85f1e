"""What is sent of spans: the library's own bytes, made otherwise, on the library's own way."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from groundwire.tracing.encoding import encode
from groundwire.tracing.exporter import Exporter

RESOURCES = [Resource({"service.name": "groundwire-critic"}), Resource({"a": 1}, "https://schema")]
SCOPES = [InstrumentationScope("groundwire"), InstrumentationScope("x", "1", "https://s", {"b": 2})]
TEXTS = st.text(max_size=8) | st.text(min_size=120, max_size=260)
SIMPLE = st.one_of(TEXTS, st.booleans(), st.integers(-(2**64), 2**64), st.integers(-200, 200))
VALUES = st.recursive(
    st.one_of(SIMPLE, st.floats(allow_nan=False), st.binary(max_size=4), st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
ATTRIBUTES = st.one_of(
    st.none(),
    st.dictionaries(TEXTS, SIMPLE, max_size=6),
    st.dictionaries(TEXTS, VALUES, max_size=4),
    st.dictionaries(st.text(min_size=1, max_size=3), SIMPLE, max_size=4).map(
        lambda found: BoundedAttributes(2, found)
    ),
)
STATES = st.sampled_from([None, TraceState(), TraceState([("vendor", "x1"), ("other", "y")])])
CONTEXTS = st.builds(
    SpanContext,
    st.integers(0, 2**128 - 1),
    st.integers(0, 2**64 - 1),
    st.booleans(),
    st.integers(0, 3).map(TraceFlags),
    STATES,
)
LINKS = st.lists(st.builds(Link, CONTEXTS, st.none() | ATTRIBUTES), max_size=2)
EVENTS = st.lists(st.builds(Event, TEXTS, ATTRIBUTES, st.integers(0, 2**63)), max_size=2)
STATUSES = st.one_of(
    st.sampled_from([Status(code) for code in StatusCode]),
    TEXTS.map(lambda said: Status(StatusCode.ERROR, said)),
)
SPANS = st.builds(
    ReadableSpan,
    name=TEXTS,
    context=CONTEXTS,
    parent=st.none() | CONTEXTS,
    resource=st.sampled_from(RESOURCES),
    attributes=ATTRIBUTES,
    events=st.just(()) | EVENTS,
    links=st.just(()) | LINKS | LINKS.map(lambda links: BoundedList.from_seq(1, links)),
    kind=st.sampled_from(SpanKind),
    status=STATUSES,
    start_time=st.none() | st.integers(0, 2**63),
    end_time=st.none() | st.integers(0, 2**63),
    instrumentation_scope=st.sampled_from(SCOPES),
)


@given(spans=st.lists(SPANS, max_size=6))
@settings(max_examples=60, deadline=None)
def test_every_span_is_what_the_library_makes_of_it(spans: list[ReadableSpan]) -> None:
    """Read back, nothing is missing and nothing is more, whatever is in a span and however they are mixed."""
    assert ExportTraceServiceRequest.FromString(encode(spans)) == encode_spans(spans)


def plain(name: str = "process drafts") -> ReadableSpan:
    """A span like nearly all."""
    own, parent = SpanContext(7, 8, False, TraceFlags(1)), SpanContext(7, 9, True, TraceFlags(1))
    return ReadableSpan(
        name=name,
        context=own,
        parent=parent,
        resource=RESOURCES[0],
        attributes={"messaging.system": "redis", "groundwire.attempt": 1, "é": "marmots ☃"},
        links=(Link(parent),),
        start_time=1,
        end_time=2,
        instrumentation_scope=SCOPES[0],
    )


class Received:
    """The requests that a collector was sent."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200


@contextmanager
def collecting(received: Received) -> Iterator[str]:
    """A collector's address, while it listens."""

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.requests.append((self.path, headers, body))
            self.send_response(received.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Take) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_spans_go_where_and_how_the_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoint, headers and compression are the library's; a refusal is one."""
    received = Received()
    with collecting(received) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{url}/here")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        exporter = Exporter()
        accepted = exporter.export([plain(), plain("send verdicts")])
        received.status = 400
        refused = exporter.export([plain()])
    (path, headers, body), _ = received.requests
    assert (accepted.name, refused.name) == ("SUCCESS", "FAILURE")
    assert (path, headers["authorization"]) == ("/here", "Bearer x")
    assert headers["content-type"] == "application/x-protobuf"
    sent = ExportTraceServiceRequest.FromString(gzip.decompress(body))
    assert sent == encode_spans([plain(), plain("send verdicts")])


def test_a_library_that_is_built_otherwise_encodes_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it is given bytes through is no promise of its."""
    given: list[object] = []
    monkeypatch.setattr(Exporter.__base__, "export", lambda _, spans: given.append(spans))
    exporter = Exporter()
    monkeypatch.delattr(exporter, "_client", raising=False)
    spans = [plain()]
    exporter.export(spans)
    assert given == [spans]
