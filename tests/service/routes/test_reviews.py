"""Promotion, pruning, telemetry and feedback over HTTP."""

from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from tests.core.fakes import Clock
from tests.service.fakes import API, draft


def used(client: httpx.Client, engine: Engine, memory_id: str) -> dict[str, Any]:
    engine.flush_retrievals()
    return client.get(f"{API}/memories/{memory_id}/telemetry").json()


def test_reads_and_hits_are_counted_unless_no_touch(client: httpx.Client, engine: Engine, memory: dict[str, Any]):
    url, query = f"{API}/memories/{memory['id']}", {"query": "deploy", "mode": "keyword"}
    for _ in range(2):
        client.get(url)
        client.get(url, params={"no_touch": "true"})
        client.post(f"{API}/search", json=query)
        client.post(f"{API}/search", json={**query, "no_touch": True})
        client.get(f"{API}/memories")
    found = used(client, engine, memory["id"])
    assert found["retrieval_count"] == 4 and found["last_retrieved_at"].endswith("Z")
    assert client.get(url).headers["etag"] == f'"{memory["id"]}.1"'
    assert client.get(f"{API}/memories/{'0' * 32}/telemetry").status_code == 404


def test_promote_and_prune_answer_with_what_changed_and_with_counts(client: httpx.Client, engine: Engine, clock: Clock):
    often, seldom = (
        client.post(f"{API}/memories", json=draft(text, status="candidate")).json()["id"] for text in ("tea", "lamps")
    )
    for _ in range(5):
        client.get(f"{API}/memories/{often}")
    planned = client.post(f"{API}/promote", params={"dry_run": "true"}, json={}).json()
    assert planned["changes"] == 1 and planned["answer"]["after"] == {"active": 1, "candidate": 1}
    done = client.post(f"{API}/promote", json={}).json()
    assert [one["id"] for one in done["items"]] == [often] and done["items"][0]["status"] == "active"
    assert client.post(f"{API}/prune", json={}).json()["items"] == []
    clock.pass_days(15)
    pruned = client.post(f"{API}/prune", json={}).json()
    assert [one["id"] for one in pruned["items"]] == [seldom] and not pruned["more"]
    assert (pruned["before"], pruned["after"]) == ({"active": 1, "candidate": 1}, {"active": 1, "deprecated": 1})
    assert client.get(f"{API}/memories/{seldom}").json()["status"] == "deprecated"


def test_feedback_over_http(client: httpx.Client, memory: dict[str, Any]):
    url = f"{API}/memories/{memory['id']}/feedback"
    planned = client.put(url, params={"dry_run": "true"}, json={"verdict": "useful"}).json()
    assert planned["changes"] == 0 and planned["answer"]["useful"] == 1
    said = client.put(url, json={"verdict": "useful"}).json()
    assert (said["useful"], said["not_useful"], said["feedback"]) == (1, 0, "useful")
    found = client.post(f"{API}/search", json={"query": "deploy", "explain": True}).json()["hits"]
    assert found[0]["explain"]["feedback"] == pytest.approx(1.05)
    refused = client.put(url, json={"verdict": "great"}).json()
    assert (refused["code"], refused["errors"][0]["path"]) == ("invalid_input", "$.verdict")
    assert client.put(url, json={"verdict": None}).json()["useful"] == 0
