"""Traces as an operator sees them: what a collector is sent by a client and five processes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from .machine import HANDBOOK, STAGES, Home

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

QUESTION = "Can I get a refund on an annual plan?"
WAY = ("queries", "intents", "contexts", "drafts", "verdicts", "results.answered")


class Collector:
    """Takes what is exported by OTLP over HTTP."""

    def __init__(self, port: int, bodies: list[bytes]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.bodies = bodies

    def spans(self) -> Iterator[tuple[str, Span]]:
        """Every span, with the name of the service that it came from."""
        for body in self.bodies:
            for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
                [service] = [
                    one.value.string_value
                    for one in of_process.resource.attributes
                    if one.key == "service.name"
                ]
                for scope in of_process.scope_spans:
                    for span in scope.spans:
                        yield service, span


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port."""
    bodies: list[bytes] = []

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Take)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Collector(server.server_port, bodies)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_one_question_is_one_trace_through_six_processes(tmp_path: Path) -> None:
    """From the command that asks to the result: each span below the one that caused it, and no word of the text."""
    with collecting() as collector:
        home = Home(tmp_path, (("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url),))
        asked = home.run("ask", "--docs", HANDBOOK, QUESTION, timeout_s=120.0)
        assert asked.returncode == 0, asked.stderr
    found = list(collector.spans())
    services = {service for service, _ in found}
    assert services == {"groundwire-client", *(f"groundwire-{stage}" for stage in STAGES)}
    assert len({span.trace_id for _, span in found}) == 1
    by_name = {span.name: span for _, span in found}
    assert len(by_name) == len(found)
    sent = by_name["send queries"]
    assert sent.parent_span_id == b""
    for stage, taken, given in zip(STAGES, WAY, WAY[1:], strict=False):
        process = by_name[f"process {taken}"]
        assert process.parent_span_id == sent.span_id
        agent, sent = by_name[f"invoke_agent {stage}"], by_name[f"send {given}"]
        assert agent.parent_span_id == sent.parent_span_id == process.span_id
        assert process.start_time_unix_nano <= agent.start_time_unix_nano
        assert agent.end_time_unix_nano <= sent.end_time_unix_nano <= process.end_time_unix_nano
    runs = {QUESTION[at : at + 12].encode() for at in range(len(QUESTION) - 11)}
    assert [run for run in runs for body in collector.bodies if run in body] == []
