"""Superseded, restored, undone: over HTTP."""

import httpx
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import administrator, with_mode


def made(client: httpx.Client, text: str, **fields: object) -> httpx.Response:
    answer = client.post(f"{API}/memories", json=draft(text, **fields))
    assert answer.status_code == 201, answer.text
    return answer


def test_superseding_answers_as_adding_does(client: httpx.Client):
    old = made(client, "We deploy on Fridays", category="rules", key="deploy")
    path = f"{API}/memories/{old.json()['id']}"
    once = {"Idempotency-Key": "k", "If-Match": old.headers["ETag"]}
    new = client.post(f"{path}/supersede", json={"content": "We deploy daily"}, headers=once)
    memory = new.json()
    assert (new.status_code, memory["supersedes"], memory["key"]) == (201, old.json()["id"], "deploy")
    assert new.headers["Location"] == f"{API}/memories/{memory['id']}"
    assert new.headers["ETag"] == f'"{memory["id"]}.1"' and new.headers["Muisti-Seq"].endswith(":3")
    again = client.post(f"{path}/supersede", json={"content": "We deploy daily"}, headers=once)
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (memory, "true")
    gone = client.get(path)
    assert gone.status_code == 404 and memory["id"] in gone.json()["detail"]
    history = client.get(f"{path}/history").json()
    assert history["chain"] == [old.json()["id"], memory["id"]]
    assert [change["field"] for change in history["items"][0]["changes"]] == ["status", "superseded_by"]
    listed = client.get(f"{API}/memories", params={"status": "superseded"}).json()["items"]
    assert [one["superseded_by"] for one in listed] == [memory["id"]]


def test_on_conflict_supersedes_one_and_not_a_batch(client: httpx.Client):
    old = made(client, "We deploy on Fridays").json()
    new = made(client, "we DEPLOY on Fridays", on_conflict="supersede").json()
    assert new["supersedes"] == old["id"]
    batch = {"memories": [draft("a")], "on_conflict": "supersede"}
    refused = client.post(f"{API}/memories/batch", json=batch)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "$.on_conflict")


def test_restoring_takes_the_deletion_back(client: httpx.Client):
    old = made(client, "We deploy on Fridays", metadata={"x": 1})
    path = f"{API}/memories/{old.json()['id']}"
    client.delete(path)
    back = client.post(f"{path}/restore", json={}, headers={"If-Match": old.headers["ETag"]})
    assert (back.status_code, back.json()["version"], back.json()["metadata"]) == (200, 2, {"x": 1})
    assert client.get(path).headers["ETag"] == back.headers["ETag"]
    stale = client.post(f"{path}/restore", json={"version": 1}, headers={"If-Match": old.headers["ETag"]})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
    assert client.post(f"{path}/restore", json={"version": 0}).status_code == 422
    assert client.post(f"{path}/restore", json={"version": 9}).status_code == 404


def test_a_request_is_undone_by_its_id(client: httpx.Client):
    batch = {"memories": [draft(f"note {n}") for n in range(3)]}
    answer = client.post(f"{API}/memories/batch", json=batch, headers={"X-Request-Id": "import-7"})
    ids = {memory["id"] for memory in answer.json()["items"]}
    kept = made(client, "kept").json()["id"]
    undone = client.post(f"{API}/undo", json={"request": answer.headers["X-Request-Id"]})
    assert (undone.status_code, set(undone.json()["ended"]), undone.json()["items"]) == (200, ids, [])
    assert [memory["id"] for memory in client.get(f"{API}/memories").json()["items"]] == [kept]
    assert client.post(f"{API}/undo", json={"request": "import-7"}).status_code == 404
    assert client.post(f"{API}/undo", json={"request": "a", "author": "b"}).status_code == 422


def test_what_somebody_else_changed_is_not_undone(engine: Engine):
    administrator(engine)
    one, other = (with_mode(engine, "full", "default").headers for _ in range(2))
    with TestClient(create_app(Settings(), engine=engine)) as client:
        path = client.post(f"{API}/memories", json=draft("mine"), headers=one).headers["Location"]
        client.patch(path, json={"reason": "why"}, headers=other)
        refused = client.post(f"{API}/undo", json={}, headers=one)
        assert (refused.status_code, refused.json()["code"]) == (409, "changed_since")
        assert path.rpartition("/")[2] in refused.json()["detail"]
        assert client.post(f"{API}/undo", json={}, headers=other).json()["items"][0]["reason"] is None
        assert client.post(f"{API}/undo", json={}, headers=one).status_code == 200
        may_add = with_mode(engine, "append-only", "default").headers
        body = draft("mine", on_conflict="supersede")
        assert client.post(f"{API}/memories", json=body, headers=may_add).json()["code"] == "forbidden"
