"""Traces by OpenTelemetry, sent by OTLP over HTTP. Needs the extra `otel`.

The provider is our own and not the global one: spans of libraries, which may quote what passes through them, are not
exported.
"""

import time
from collections.abc import Sequence
from contextvars import ContextVar, Token

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from muisti.core.model.hits import Answered
from muisti.core.model.outcomes import Written
from muisti.service.observability.meters import METHODS, NO_ROUTE, OTHER, STAGES
from muisti.service.version import installed_version

Header = tuple[bytes, bytes]

CARRIED = (b"traceparent", b"tracestate")
NS_PER_MS = 1_000_000

_running: ContextVar[Span | None] = ContextVar("muisti_request", default=None)


def exporting(endpoint: str) -> "OpenTelemetry":
    """Return tracing that exports to a collector. The SDK reads headers, sampling and more from `OTEL_*`."""
    return OpenTelemetry(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))


class OpenTelemetry:
    """The `Tracing` that makes spans of OpenTelemetry."""

    def __init__(self, processor: SpanProcessor) -> None:
        ours = Resource({"service.name": "muisti", "muisti.service.version": installed_version()})
        resource = Resource.create().merge(ours).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("muisti", installed_version())
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, headers: Sequence[Header]) -> "RequestSpan":
        carrier = {name.decode(): value.decode("latin-1") for name, value in headers if name in CARRIED}
        span = self._tracer.start_span("request", self._propagator.extract(carrier), SpanKind.SERVER)
        return RequestSpan(span, _running.set(span))

    def searched(self, answer: Answered) -> None:
        request = _running.get()
        if request is None:
            return
        request.set_attribute("muisti.search.mode", answer.strategy)
        request.set_attribute("muisti.search.evidence", answer.evidence)
        request.set_attribute("muisti.search.hits", len(answer.hits))
        self._past(request, [(stage, getattr(answer.timings, stage)) for stage in STAGES])

    def wrote(self, written: Written) -> None:
        request = _running.get()
        if request is None:
            return
        request.set_attribute("muisti.write.replayed", written.replayed)
        if written.commit:
            self._past(request, [("commit", written.commit)])

    def close(self) -> None:
        self._provider.shutdown()

    def _past(self, request: Span, stages: Sequence[tuple[str, float]]) -> None:
        """Add spans of stages that ran one after the other and end now; their durations are in milliseconds."""
        context = set_span_in_context(request)
        at = time.time_ns() - int(NS_PER_MS * sum(took for _, took in stages))
        for name, took in stages:
            span = self._tracer.start_span(name, context, start_time=at)
            at += int(NS_PER_MS * took)
            span.end(at)


class RequestSpan:
    """The span of a request, current until it ends."""

    def __init__(self, span: Span, token: Token[Span | None]) -> None:
        self._span, self._token = span, token

    @property
    def trace_id(self) -> str:
        return format_trace_id(self._span.get_span_context().trace_id)

    def end(self, method: str, route: str | None, status: int) -> None:
        _running.reset(self._token)
        method, route = method if method in METHODS else OTHER, route or NO_ROUTE
        self._span.update_name(f"{method} {route}")
        self._span.set_attributes(
            {"http.request.method": method, "http.route": route, "http.response.status_code": status}
        )
        if status >= 500 or not status:
            self._span.set_status(StatusCode.ERROR)
        self._span.end()
