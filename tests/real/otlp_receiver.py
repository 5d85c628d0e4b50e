"""An OTLP/HTTP receiver that decodes with OpenTelemetry's package for Python: otlp_receiver.py

Prints its port, then a line of JSON for each request: {"spans": [...]} or {"metrics": [...]}, or {"error": ...}.
"""

import gzip
import http.server
import json

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces


def value(any_value):
    kind = any_value.WhichOneof("value")
    return getattr(any_value, kind) if kind in ("string_value", "int_value", "bool_value") else None


def span(one):
    return {
        "name": one.name,
        "kind": one.kind,
        "trace": one.trace_id.hex(),
        "id": one.span_id.hex(),
        "parent": one.parent_span_id.hex(),
        "nanoseconds": one.end_time_unix_nano - one.start_time_unix_nano,
        "attributes": {each.key: value(each.value) for each in one.attributes},
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["content-encoding"] == "gzip":
            body = gzip.decompress(body)
        try:
            if self.path == "/v1/traces":
                request = traces.ExportTraceServiceRequest.FromString(body)
                scopes = [scope for each in request.resource_spans for scope in each.scope_spans]
                said, reply = {"spans": [span(one) for scope in scopes for one in scope.spans]}, traces.ExportTraceServiceResponse()
            else:
                request = metrics.ExportMetricsServiceRequest.FromString(body)
                scopes = [scope for each in request.resource_metrics for scope in each.scope_metrics]
                said = {"metrics": [MessageToDict(one) for scope in scopes for one in scope.metrics]}
                reply = metrics.ExportMetricsServiceResponse()
            status, reply = 200, reply.SerializeToString()
        except Exception as error:
            said, status, reply = {"error": repr(error)}, 400, b""
        print(json.dumps(said), flush=True)
        self.send_response(status)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
