"""Traces: the spans of a request, their trace, the data that they never contain, and their export to a collector."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.observability.otel import OpenTelemetry
from muisti.service.observability.tracing import check_tracing
from muisti.service.settings import Settings, SettingsError
from tests.local_server import Handler, running
from tests.service.fakes import API, draft

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
STAGES = ["embed", "filter", "rank", "fetch"]


pytestmark = pytest.mark.one_store  # what is counted is the same


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traced(engine: Engine, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr("muisti.service.app.app.tracing_of", lambda _: OpenTelemetry(SimpleSpanProcessor(spans)))
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def test_a_search_has_its_stages_inside_and_a_write_its_commit(traced: httpx.Client, spans: InMemorySpanExporter):
    traced.post(f"{API}/memories", json=draft())
    traced.post(f"{API}/memories/batch", json={"memories": [draft("another")]})
    traced.post(f"{API}/search", json={"query": "deploy"})
    traced.get("/healthz")
    found = spans.get_finished_spans()
    assert [span.name for span in found] == [
        *("commit", "create_memory", "POST /v1/spaces/{space}/memories"),
        *("commit", "create_memory", "POST /v1/spaces/{space}/memories/batch"),
        *(*STAGES, "search_memory", "POST /v1/spaces/{space}/search"),
    ]
    *stages, search, whole = found[6:]
    for before, after in pairwise(stages):
        assert before.end_time == after.start_time
    for inner, outer in (*((stage, search) for stage in stages), (search, whole)):
        assert inner.parent is not None and outer.context is not None
        assert inner.parent.span_id == outer.context.span_id
    assert whole.attributes is not None
    assert whole.attributes["http.response.status_code"] == 200
    assert whole.attributes["muisti.search.mode"] == "hybrid"


def test_a_request_belongs_to_the_trace_that_it_names(traced: httpx.Client, spans: InMemorySpanExporter):
    traced.get(f"{API}/stats", headers={"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "ours=1"})
    traced.get(f"{API}/stats", headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})  # not sampled: not ours to decide
    traced.get(f"{API}/stats", headers={"traceparent": "nonsense"})
    first, third = spans.get_finished_spans()
    assert first.parent is not None and format(first.parent.span_id, "016x") == PARENT
    assert first.context is not None and format(first.context.trace_id, "032x") == TRACE
    assert first.context.trace_state.get("ours") == "1"
    assert third.parent is None


def test_a_tool_of_mcp_is_traced_like_a_request(traced: httpx.Client, spans: InMemorySpanExporter):
    traced.post(f"{API}/memories", json=draft())
    call = {"name": "recall", "arguments": {"query": "deploy"}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    for meta in ({}, {"_meta": {"progressToken": 1}}):  # the fast path, and the SDK
        spans.clear()
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, **meta}}
        assert traced.post("/mcp", json=body, headers=headers).is_success
        found = named(spans)
        contexts = [found[name].context for name in ("POST /mcp", *STAGES)]
        assert len({context.trace_id for context in contexts if context is not None}) == 1


NOTES = "/v1/spaces/notes"


def about(spans: InMemorySpanExporter) -> list[dict[str, Any]]:
    """Return the attributes of the operations on memories, without the beginning of their names."""
    found = [dict(span.attributes or {}) for span in spans.get_finished_spans()]
    return [
        {name.removeprefix("gen_ai.").removeprefix("memory."): value for name, value in one.items()}
        for one in found
        if "gen_ai.operation.name" in one
    ]


def test_operations_have_the_names_of_the_conventions(traced: httpx.Client, spans: InMemorySpanExporter):
    traced.post("/v1/spaces?dry_run=true", json={"name": "notes"})
    epoch = traced.post("/v1/spaces", json={"name": "notes"}).headers["muisti-seq"].partition(":")[0]
    one = traced.post(f"{NOTES}/memories", json=draft()).json()["id"]
    traced.post(f"{NOTES}/memories/batch", json={"memories": [draft("a b"), draft("c d")]})
    traced.patch(f"{NOTES}/memories/{one}", json={"content": "We deploy on Mondays"})
    traced.put(f"{NOTES}/entries/rules/deploy", json={"content": "Never on Fridays"})
    traced.post(f"{NOTES}/search", json={"query": "deploy", "limit": 1, "mode": "keyword"})
    traced.post(f"{NOTES}/context", json={"query": "deploy", "token_budget": 500})
    traced.post(
        "/v1/search", json={"query": "quokka", "mode": "keyword", "spaces": [{"name": "notes"}, {"name": "default"}]}
    )
    traced.post(f"{NOTES}/memories?dry_run=true", json=draft("planned"))
    traced.delete(f"{NOTES}/memories/{one}")
    traced.delete(f"{NOTES}/memories/{one}?purge=true")
    traced.delete("/v1/spaces/notes?confirm=notes")
    found = [(each["operation.name"], each.get("store.id"), each.get("record.count")) for each in about(spans)]
    assert found == [
        ("create_memory_store", epoch, None), ("create_memory", epoch, 1), ("create_memory", epoch, 2),
        ("update_memory", epoch, 1), ("upsert_memory", epoch, 1), ("search_memory", epoch, 1),
        ("search_memory", epoch, 2), ("search_memory", None, 0), ("delete_memory", epoch, 1),
        ("delete_memory", epoch, 1), ("delete_memory_store", None, None),
    ]  # fmt: skip
    ids = {
        each.get("record.id") for each in about(spans) if each["operation.name"] in ("update_memory", "delete_memory")
    }
    assert ids == {one}


def test_no_text_is_in_a_span(traced: httpx.Client, spans: InMemorySpanExporter):
    traced.post("/v1/spaces", json={"name": "secret-space"})
    traced.post("/v1/spaces/secret-space/memories", json=draft("secretcontent"))
    traced.post("/v1/spaces/secret-space/search", json={"query": "secretquery"})
    traced.post("/v1/spaces/secret-space/context", json={"query": "secretquery"})
    traced.get("/secret?secret=1", headers={"X-Request-Id": "secret"})
    found = spans.get_finished_spans()
    assert len(found) == 14
    assert "secret" not in "".join(span.to_json() for span in found)


def test_texts_are_there_when_they_are_asked_for_and_bounded(engine: Engine, spans: InMemorySpanExporter):
    tracing = OpenTelemetry(SimpleSpanProcessor(spans), texts=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muisti.service.app.app.tracing_of", lambda _: tracing)
        with TestClient(create_app(Settings(), engine=engine)) as client:
            made = client.post(f"{API}/memories", json=draft("We deploy " + "x " * 2_000))
            assert made.status_code == 201, made.text
            client.post(f"{API}/search", json={"query": "deploy " * 200, "applies": 0}).raise_for_status()
    write, search = about(spans)
    assert search["query.text"].startswith("deploy") and len(search["query.text"]) == 1_000
    for one, fields in ((write, {"id", "content"}), (search, {"id", "content", "score"})):
        (record,) = json.loads(one["records"])
        assert record.keys() == fields and len(record["content"]) == 1_000


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Run a collector. Yield its URL, and the list of the OTLP requests that it received."""
    came: list[ExportTraceServiceRequest] = []

    class Collector(Handler):
        def do_POST(self) -> None:
            body = self.taken()
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            came.append(ExportTraceServiceRequest.FromString(body))
            self.say(200)

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Collector)) as server:
        yield f"http://127.0.0.1:{server.server_port}", came


def test_a_collector_has_the_spans_when_the_server_has_stopped(engine: Engine):
    with collector() as (url, came):
        with TestClient(create_app(Settings(otlp_endpoint=url), engine=engine)) as client:
            client.post(f"{API}/search", json={"query": "deploy"})
        resources = [resource for request in came for resource in request.resource_spans]
    told = {pair.key: pair.value.string_value for pair in resources[0].resource.attributes}
    assert told["service.name"] == "muisti"
    names = [span.name for resource in resources for scope in resource.scope_spans for span in scope.spans]
    assert sorted(names) == sorted([*STAGES, "search_memory", "POST /v1/spaces/{space}/search"])


def test_without_the_extra_the_setting_is_an_error(monkeypatch: pytest.MonkeyPatch):
    for name in [
        name
        for name in sys.modules
        if name == "muisti.service.observability.otel" or name.startswith("opentelemetry.sdk")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    with pytest.raises(SettingsError, match=r"MUISTI_OTLP_ENDPOINT .*\.\[otel\]"):
        check_tracing(Settings(otlp_endpoint="http://collector:4318"))


def test_nothing_of_either_library_is_loaded_unasked():
    program = (
        "import json, sys, muisti.service.app.app, muisti.service.app.server; print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert [name for name in loaded if name.startswith(("opentelemetry", "prometheus_client"))] == []
