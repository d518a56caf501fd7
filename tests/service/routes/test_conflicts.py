"""Duplicates and contradictions over HTTP."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.schemas.likeness import LikenessReply
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import administrator, with_mode

PORT = "The staging database runs on port {}."


def test_a_contradiction_shows_the_memory_and_what_differs(client: httpx.Client):
    first = client.post(f"{API}/memories", json=draft(PORT.format(5433), category="infra")).json()
    response = client.post(f"{API}/memories", json=draft(PORT.format(5434)))
    body = response.json()
    assert (response.status_code, body["code"]) == (409, "contradiction")
    (found,) = body["conflicts"]
    assert set(found) == set(LikenessReply.__struct_fields__)
    assert (found["id"], found["kind"], found["category"]) == (first["id"], "conflict", "infra")
    assert found["differs"] == [{"kind": "number", "existing": "5433", "new": "5434"}]
    assert "PATCH" in body["detail"] and "on_conflict=keep" in body["detail"]
    assert body["checked_at"] == response.headers.get("Muisti-Seq", body["checked_at"])
    kept = client.post(f"{API}/memories", json=draft(PORT.format(5434), on_conflict="keep"))
    assert (kept.status_code, kept.json()["similar"], kept.json()["checked_at"]) == (201, [], None)


def test_what_is_only_similar_is_listed(client: httpx.Client):
    first = client.post(f"{API}/memories", json=draft("Order 1234 was shipped to Norway")).json()
    second = client.post(f"{API}/memories", json=draft("Order 1235 was shipped to Norway")).json()
    assert [(one["id"], one["kind"]) for one in second["similar"]] == [(first["id"], "similar")]
    assert second["checked_at"].endswith(":1")


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_may_be_checked_too(client: httpx.Client, atomic: bool):
    memories = [{"content": PORT.format(port)} for port in (5433, 5434)]
    body = {"memories": memories, "atomic": atomic}
    refused = client.post(f"{API}/memories/batch", json={**body, "on_conflict": "reject"})
    if atomic:
        assert (refused.status_code, refused.json()["code"]) == (409, "contradiction")
    else:
        (_, second) = refused.json()["items"]
        assert (second["status"], second["problem"]["code"]) == ("failed", "contradiction")
    assert client.post(f"{API}/memories/batch", json=body).status_code == (201 if atomic else 200)


def test_of_many_requests_with_one_text_one_is_stored(client: httpx.Client):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(f"{API}/memories", json=draft("It rains")).status_code, range(8)))
    assert sorted(answers) == [201] + [409] * 7


def test_what_is_stored_for_review_waits_for_a_decision(client: httpx.Client):
    first = client.post(f"{API}/memories", json=draft(PORT.format(5433), category="infra", key="port")).json()
    second = client.post(f"{API}/memories", json=draft(PORT.format(5434), on_conflict="review")).json()
    assert [(one["id"], one["kind"]) for one in second["similar"]] == [(first["id"], "conflict")]
    listed = client.get(f"{API}/conflicts")
    (one,) = listed.json()["items"]
    assert (one["kind"], one["existing"]["id"], one["new"]["id"]) == ("conflict", first["id"], second["id"])
    assert one["differs"] == [{"kind": "number", "existing": "5433", "new": "5434"}]
    path = f"{API}/conflicts/{one['id']}"
    assert client.post(path, json={"decision": "both"}).status_code == 422
    tried = client.post(path, params={"dry_run": "true"}, json={"decision": "supersede"}).json()
    assert [item["kind"] for item in tried["items"]] == ["superseded", "updated"]
    done = client.post(path, json={"decision": "supersede"})
    assert (done.json()["seq"], done.json()["new_id"]) == (done.headers["Muisti-Seq"], second["id"])
    assert client.get(f"{API}/entries/infra/port").json()["supersedes"] == first["id"]
    assert client.post(path, json={"decision": "keep"}).status_code == 404
    batch = {"memories": [{"content": "It rains"}, {"content": "It rains"}], "on_conflict": "review"}
    client.post(f"{API}/memories/batch", json=batch)
    assert [one["kind"] for one in client.get(f"{API}/conflicts").json()["items"]] == ["duplicate"]


def test_who_may_not_delete_rejects_nothing(engine: Engine):
    admin, agent = administrator(engine), with_mode(engine, "no-delete", "*")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        for port in (5433, 5434):
            client.post(f"{API}/memories", json=draft(PORT.format(port), on_conflict="review"), headers=agent.headers)
        (one,) = client.get(f"{API}/conflicts", headers=agent.headers).json()["items"]
        path, body = f"{API}/conflicts/{one['id']}", {"decision": "reject"}
        assert client.post(path, json=body, headers=agent.headers).status_code == 403
        assert client.post(path, json=body, headers=admin.headers).status_code == 200
