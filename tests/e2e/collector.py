"""A collector of traces, as an operator may have one: what is sent to it by OTLP over HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    """Takes what is exported by OTLP over HTTP."""

    def __init__(self, port: int, bodies: list[bytes]) -> None:
        self.variables = (
            ("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}"),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),  # ms: a busy machine may not do it all at an exit
        )
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
