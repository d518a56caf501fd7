"""Traces by OpenTelemetry, sent by OTLP over HTTP. Needs the extra `otel`.

The provider is our own and not the global one: spans of libraries, which may quote what passes through them, are not
exported.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar, Token
from itertools import islice

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from muisti.core.model.context import Context
from muisti.core.model.hits import Answer, JointAnswer
from muisti.core.model.operations import Erasure
from muisti.core.model.outcomes import Written
from muisti.core.model.spaces import Space
from muisti.core.model.values import Memory
from muisti.service.observability.meters import METHODS, NO_ROUTE, OTHER, STAGES
from muisti.service.version import installed_version

Header = tuple[bytes, bytes]

CARRIED = (b"traceparent", b"tracestate")
NS_PER_MS = 1_000_000
TEXT_MAX, RECORDS_MAX = 1_000, 20  # characters of a text, and memories, in a span
VERBS = {"add": "create_memory", "put": "upsert_memory", "delete": "delete_memory"}  # all others update memories

Value = str | int

_running: ContextVar[Span | None] = ContextVar("muisti_request", default=None)


def exporting(endpoint: str, texts: bool) -> "OpenTelemetry":
    """Return tracing that exports to a collector. The SDK reads headers, sampling and more from `OTEL_*`."""
    return OpenTelemetry(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")), texts=texts)


class OpenTelemetry:
    """The `Tracing` that makes spans of OpenTelemetry. With `texts` they have queries and memories too."""

    def __init__(self, processor: SpanProcessor, *, texts: bool = False) -> None:
        self._texts = texts
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

    def searched(self, answer: Answer | JointAnswer, query: str) -> None:
        request = _running.get()
        if request is None:
            return
        request.set_attribute("muisti.search.mode", answer.strategy)
        request.set_attribute("muisti.search.evidence", answer.evidence)
        request.set_attribute("muisti.search.hits", len(answer.hits))
        store = answer.seq.epoch if isinstance(answer, Answer) else None
        found = _about("search_memory", store, [hit.memory.id for hit in answer.hits])
        if self._texts:
            found["gen_ai.memory.query.text"] = query[:TEXT_MAX]
            found["gen_ai.memory.records"] = _records((hit.memory, hit.score) for hit in answer.hits)
        self._past(request, found, [(stage, getattr(answer.timings, stage)) for stage in STAGES])

    def packed(self, context: Context, query: str) -> None:
        request = _running.get()
        if request is None:
            return
        request.set_attribute("muisti.search.mode", context.strategy)
        request.set_attribute("muisti.search.evidence", context.evidence)
        ids = list(dict.fromkeys(one.id for one in context.citations))
        found = _about("search_memory", context.seq.epoch if len(context.spaces) == 1 else None, ids)
        if self._texts:
            found["gen_ai.memory.query.text"] = query[:TEXT_MAX]
        self._past(request, found, ())

    def wrote(self, written: Written, verb: str) -> None:
        request = _running.get()
        if request is None:
            return
        request.set_attribute("muisti.write.replayed", written.replayed)
        if not written.commit:
            return
        operation = VERBS.get(verb, "update_memory")
        found = _about(operation, written.seq.epoch, [one.id for one in written.memories])
        if self._texts and operation != "delete_memory":
            found["gen_ai.memory.records"] = _records((one, None) for one in written.memories)
        self._past(request, found, [("commit", written.commit)])

    def stored(self, made: Space | Erasure) -> None:
        request = _running.get()
        if request is None:
            return
        if isinstance(made, Space):
            self._past(request, _about("create_memory_store", made.at.epoch), ())
            return
        memory = made.what.get("memory")
        ids = [memory] if isinstance(memory, str) else None
        operation = "delete_memory_store" if made.seq is None else "delete_memory"
        self._past(request, _about(operation, None if made.seq is None else made.seq.epoch, ids), ())

    def close(self) -> None:
        self._provider.shutdown()

    def _past(self, request: Span, about: Mapping[str, Value], stages: Sequence[tuple[str, float]]) -> None:
        """Add the span of an operation that ends now, and inside it those of its stages, which ran one after another.

        Durations are in milliseconds.
        """
        at = time.time_ns() - int(NS_PER_MS * sum(took for _, took in stages))
        name = str(about["gen_ai.operation.name"])
        operation = self._tracer.start_span(name, set_span_in_context(request), attributes=about, start_time=at)
        context = set_span_in_context(operation)
        for name, took in stages:
            span = self._tracer.start_span(name, context, start_time=at)
            at += int(NS_PER_MS * took)
            span.end(at)
        operation.end(at)


def _about(operation: str, store: str | None, ids: Sequence[str] | None = None) -> dict[str, Value]:
    """Return the attributes of an operation.

    `store` is the epoch of a space. `ids` are those of its memories, None where they are not known.
    """
    found: dict[str, Value] = {"gen_ai.operation.name": operation}
    if store is not None:
        found["gen_ai.memory.store.id"] = store
    if ids is not None:
        found["gen_ai.memory.record.count"] = len(ids)
        if len(ids) == 1:
            found["gen_ai.memory.record.id"] = ids[0]
    return found


def _records(found: Iterable[tuple[Memory, float | None]]) -> str:
    """Return the first memories as the conventions want them: a JSON text, with long contents cut."""
    return json.dumps(
        [
            {"id": one.id, "content": one.content[:TEXT_MAX], **({} if score is None else {"score": round(score, 4)})}
            for one, score in islice(found, RECORDS_MAX)
        ],
        ensure_ascii=False,
    )


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
