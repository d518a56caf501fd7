"""Metrics: what they count, who may read them, and that the documentation names each of them."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient
from prometheus_client import parser
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.tasks import OVER, NewItem, Task
from muisti.core.store.database import Statement
from muisti.core.tasks.claim import Claim
from muisti.service.app.app import create_app
from muisti.service.auth.middleware import METRICS
from muisti.service.metrics.scrape import joined
from muisti.service.observability.meters import Meters
from muisti.service.settings import Settings
from tests.core.tasks.kinds import Remember
from tests.service.fakes import API, Breakable, draft
from tests.service.keyed import administrator, caller

OPERATIONS = Path(__file__).parents[3] / "docs" / "how-to" / "operations.md"
SECRET = "a key for Prometheus, of some length".replace(" ", "-")
ROW = re.compile(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \|", re.MULTILINE)
PLACES = "/v1/spaces/{space}/memories"


pytestmark = pytest.mark.one_store  # what is counted is the same


def scraped(client: httpx.Client) -> dict[str, Metric]:
    """The families by name; every answer must be what Prometheus reads."""
    answer = client.get(METRICS)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {found.name: found for found in parser.text_string_to_metric_families(answer.text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have these labels."""
    samples = [sample for family in families.values() for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def test_requests_are_counted_by_template_and_refusals_by_code(client: httpx.Client):
    client.post(f"{API}/memories", json=draft())
    client.post(f"{API}/memories", json=draft(), headers={"Prefer": "return=minimal"})  # the long way: a duplicate
    client.get("/v1/spaces/missing/stats")
    client.get("/no/such/path")
    client.request("BREW", "/pot")
    found = scraped(client)
    assert value(found, "muisti_http_requests_total", method="POST", route=PLACES, status="201") == 1
    assert value(found, "muisti_http_requests_total", method="POST", route=PLACES, status="409") == 1
    assert value(found, "muisti_http_requests_total", route="/v1/spaces/{space}/stats", status="404") == 1
    assert value(found, "muisti_http_requests_total", route="none", status="404") == 2
    assert value(found, "muisti_http_requests_total", method="other") == 1
    assert value(found, "muisti_http_request_duration_seconds_count", route=PLACES) == 2
    assert value(found, "muisti_http_requests_in_progress") == 1
    problems = {
        code: value(found, "muisti_http_problems_total", code=code) for code in ("duplicate", "not_found", "busy")
    }
    assert problems == {"duplicate": 1, "not_found": 1, "busy": 0}


def test_searches_and_writes_are_counted(client: httpx.Client):
    body = {"memories": [draft(f"memory {n}") for n in range(3)]}
    assert client.post(f"{API}/memories/batch", json=body).headers["server-timing"].startswith("commit;dur=")
    for mode in ("hybrid", "keyword", "keyword"):
        client.post(f"{API}/search", json={"query": "memory", "mode": mode})
    found = scraped(client)
    assert value(found, "muisti_memory_changes_total") == 3
    assert value(found, "muisti_commit_duration_seconds_count") >= 1
    assert value(found, "muisti_searches_total", mode="keyword") == 2
    stages = [value(found, "muisti_search_stage_duration_seconds_count", stage=one) for one in ("embed", "rank")]
    assert stages == [3, 3]
    assert value(found, "muisti_index_loaded_spaces") == value(found, "muisti_index_load_duration_seconds_count") == 1
    assert value(found, "muisti_index_memory_bytes") > 0


def test_tasks_are_counted_by_kind(engine: Engine):
    engine.tasks.register(Remember(engine))

    def submit(*names: str) -> Task:
        return engine.tasks.submit("default", "remember", {}, OWNER, map(NewItem, names))

    with TestClient(create_app(Settings(tasks=0), engine=engine)) as client:
        found = scraped(client)
        assert value(found, "muisti_tasks_ended_total", kind="remember", state="succeeded") == 0
        assert value(found, "muisti_tasks_running", kind="embed") == 0
        submit("a", "b")
        lost, unwanted = submit("c"), submit("d")
        runner = engine.runner(60, 9)
        runner.run_one()
        held = runner.claim()
        found = scraped(client)
        assert value(found, "muisti_tasks_queued", kind="remember") == 2  # before the claim
        assert value(found, "muisti_tasks_running", kind="remember") == 1
        assert isinstance(held, Claim) and held.task.id == lost.id
        engine._database.write([Statement("UPDATE tasks SET lease_until = 0 WHERE id = ?", (lost.id,))])
        engine.tasks.cancel("default", unwanted.id, OWNER)
        engine.runner(60, 9).run_one()
        runner.run(held)  # which finds that another one has the task
        found = scraped(client)
        ended = {one: value(found, "muisti_tasks_ended_total", kind="remember", state=one) for one in OVER}
        assert ended == {"succeeded": 2, "partial": 0, "failed": 0, "cancelled": 1}
        assert value(found, "muisti_task_takeovers_total", kind="remember") == 1
        assert value(found, "muisti_task_duration_seconds_count", kind="remember") == 2
        assert value(found, "muisti_tasks_running", kind="remember") == 0


def test_tools_of_mcp_are_counted(client: httpx.Client):
    for name, arguments in (("recall", {"query": "x"}), ("recall", {"limit": "many"}), ("secret", {})):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        client.post("/mcp", json=call, headers={"Accept": "application/json, text/event-stream"})
    found = scraped(client)
    outcomes = [value(found, "muisti_mcp_calls_total", tool="recall", outcome=one) for one in ("ok", "invalid_input")]
    assert outcomes == [1, 1]
    assert value(found, "muisti_mcp_calls_total") == 2


def test_a_database_that_fails_shows(client: httpx.Client, database: Breakable):
    database.failure = StoreUnavailable("gone")
    client.get(f"{API}/stats")
    assert client.post(f"{API}/memories", json=draft()).status_code == 503
    database.failure = None
    found = scraped(client)
    assert value(found, "muisti_http_problems_total", code="store_unavailable") == 2
    assert value(found, "muisti_http_requests_total", status="503") == 2


def test_nothing_of_tenants_is_in_them(client: httpx.Client):
    client.post("/v1/spaces", json={"name": "secret-space"})
    made = client.post("/v1/spaces/secret-space/memories", json=draft("secretcontent", category="secretcategory"))
    client.post("/v1/spaces/secret-space/search", json={"query": "secretquery"})
    client.get("/v1/spaces/secret-space/entries/secretcategory/secretkey")
    client.get("/secret/path?secret=1")
    client.request("SECRET", "/")
    page = client.get(METRICS).text
    assert "secret" not in page.lower()
    assert made.json()["id"] not in page


def test_openmetrics_is_told_to_those_who_ask_for_it(client: httpx.Client):
    client.post(f"{API}/search", json={"query": "anything"})
    answer = client.get(METRICS, headers={"Accept": "application/openmetrics-text; version=1.0.0, text/plain;q=0.5"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    names = {family.name for family in openmetrics.text_string_to_metric_families(answer.text)}
    assert names >= {"muisti_searches", "muisti_build", "muisti_workers"}


def test_the_documentation_has_every_metric_and_no_other(client: httpx.Client):
    documented = dict(ROW.findall(OPERATIONS.read_text("utf-8")))
    types = re.findall(r"^# TYPE (\S+) (\S+)$", client.get(METRICS).text, re.MULTILINE)
    assert documented == dict(types)


def test_with_keys_metrics_are_for_administrators_and_the_metrics_key_alone(engine: Engine):
    everything, one = administrator(engine), caller(engine, ("read", "admin"), "default")
    scraper = {"Authorization": f"Bearer {SECRET}"}
    with TestClient(create_app(Settings(metrics_key=SECRET), engine=engine)) as client:
        assert client.get(METRICS).status_code == 401
        assert client.get(METRICS, headers={"Authorization": f"Bearer {SECRET}x"}).status_code == 401
        assert client.get(METRICS, headers=one.headers).status_code == 403
        assert client.get(METRICS, headers=caller(engine, ("read",)).headers).status_code == 403
        assert client.get(METRICS, headers=everything.headers).is_success
        assert client.get(METRICS, headers=scraper).is_success
        for path in ("/v1/spaces", f"{API}/stats", "/v1/keys", "/v1/audit", "/readyz", "/metrics/"):
            assert client.get(path, headers=scraper).status_code == 401, path
        assert client.post("/mcp", headers=scraper, json={}).status_code == 401


def test_without_keys_they_are_told_to_this_machine_only(engine: Engine):
    with TestClient(create_app(Settings(), engine=engine, own_host="127.0.0.1")) as client:
        assert client.get(METRICS, headers={"Host": "127.0.0.1:8321"}).is_success
        assert client.get(METRICS, headers={"Host": "elsewhere.example"}).status_code == 421


def test_workers_ask_each_other_and_a_number_passes_to_the_successor(tmp_path: Path):
    async def scenario() -> None:
        async def says(what: bytes) -> bytes:
            return what

        async with joined(tmp_path, lambda: says(b"first")) as first:
            async with joined(tmp_path, lambda: says(b"second")) as second:
                assert (first.number, second.number) == (0, 1)
                assert await first.ask() == [(1, b"second")]
                assert await second.ask() == [(0, b"first")]
            (tmp_path / "1.socket").touch()  # as one leaves it that is killed
            assert await first.ask() == []
            async with joined(tmp_path, lambda: says(b"third")) as third:
                assert third.number == 1
                assert await first.ask() == [(1, b"third")]

    asyncio.run(scenario())


def test_all_workers_tell_the_same(engine: Engine, tmp_path: Path):
    """Two servers that share nothing but a folder, as workers do."""
    with (
        TestClient(create_app(Settings(), engine=engine, workers=tmp_path)) as one,
        TestClient(create_app(Settings(), engine=engine, workers=tmp_path)) as two,
    ):
        for client, times in ((one, 2), (two, 3)):
            for _ in range(times):
                client.get(f"{API}/stats")
        for client in (one, two):
            found = scraped(client)
            route = "/v1/spaces/{space}/stats"
            each = [value(found, "muisti_http_requests_total", route=route, worker=str(n)) for n in (0, 1)]
            assert (each, value(found, "muisti_workers")) == ([2, 3], 2)


def test_a_loop_that_is_held_up_is_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.service.observability.meters.BEAT_SECONDS", 0.001)

    async def scenario() -> Meters:
        meters = Meters()
        beat = asyncio.create_task(meters.beat())
        while not meters.loop_lag_seconds.read()[()].up_to[-1]:
            await asyncio.sleep(0.001)
        beat.cancel()
        return meters

    assert asyncio.run(scenario()).loop_lag_seconds.read()[()].total >= 0


def test_latencies_are_those_of_the_metrics(client: httpx.Client):
    for number in range(5):
        client.post(f"{API}/memories", json=draft(f"marmot number {number} likes walnuts {number}"))
    client.get("/v1/spaces/missing/stats")
    found = client.get("/v1/server/stats").json()
    times = {(one["method"], one["route"]): one for one in found["operations"]}
    added = times["POST", PLACES]
    families = scraped(client)
    name = "muisti_http_request_duration_seconds"
    labels = {"method": "POST", "route": PLACES}
    assert added["count"] == 5 == value(families, f"{name}_count", **labels)
    assert added["mean"] == pytest.approx(1000 * value(families, f"{name}_sum", **labels) / 5, abs=0.001)
    assert 0 < added["p50"] <= added["p95"] <= added["p99"]
    assert times["GET", "/v1/spaces/{space}/stats"]["count"] == 1
    assert [one["count"] for one in found["operations"]] == sorted(
        (one["count"] for one in found["operations"]), reverse=True
    )
    assert found["workers"] == 1 and found["memory_bytes"] > 1_000_000 and found["uptime_seconds"] > 0
