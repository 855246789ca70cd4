"""Receives spans and metrics as an OpenTelemetry collector would (OTLP over HTTP, in protobuf). It
is a program of the tests and no collector."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True, kw_only=True)
class Span:
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    process: str
    attributes: dict[str, Any]


@dataclass
class Receiver:
    """What came. While `may_answer` is not set, no request is answered."""

    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    # How often something was measured: by program, its process, metric and operation.
    measured: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    requests: int = 0
    may_answer: threading.Event = field(default_factory=threading.Event)

    def read_metrics(self, body: bytes) -> None:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            of_process = values(resource.resource.attributes)
            process, instance = of_process["remit.process"], of_process["service.instance.id"]
            for metric in (one for scope in resource.scope_metrics for one in scope.metrics):
                for point in metric.histogram.data_points:
                    operation = values(point.attributes)["gen_ai.operation.name"]
                    self.measured[process, instance, metric.name, operation] = point.count

    def read(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            of_process = values(resource.resource.attributes)
            for scope in resource.scope_spans:
                self.spans += [
                    Span(
                        name=span.name,
                        trace_id=span.trace_id.hex(),
                        span_id=span.span_id.hex(),
                        parent_id=span.parent_span_id.hex(),
                        process=of_process["remit.process"],
                        attributes=values(span.attributes),
                    )
                    for span in scope.spans
                ]


def values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in attributes}


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    """On a free port of loopback."""
    receiver = Receiver()
    receiver.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.requests += 1
            receiver.may_answer.wait()
            reads: dict[str, tuple[Callable[[bytes], None], Callable[[], Any]]] = {
                "/v1/traces": (receiver.read, ExportTraceServiceResponse),
                "/v1/metrics": (receiver.read_metrics, ExportMetricsServiceResponse),
            }
            if self.path not in reads:
                self.send_error(404)
                return
            read, answer = reads[self.path]
            read(body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(answer().SerializeToString())

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the test says what matters."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.may_answer.set()
        server.shutdown()
        server.server_close()
        thread.join()
