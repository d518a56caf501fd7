"""Ids, points of history, repeated requests, and what every answer carries."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.http.request import WAIT_SECONDS
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

SEQ = re.compile(r"[0-9a-f-]{36}:\d+")


def every_kind_of_answer(client: httpx.Client) -> list[httpx.Response]:
    memory = client.post(f"{API}/memories", json=draft())
    url = memory.headers["location"]
    return [
        memory, client.get(url), client.get(url, headers={"If-None-Match": "*"}), client.get("/healthz"),
        client.get("/docs"), client.get("/openapi.json"), client.get("/nope"), client.get("/%ff"),
        client.post("/healthz"),
        client.post(f"{API}/search", content=b"{", headers={"Content-Type": "application/json"}), client.delete(url),
    ]  # fmt: skip


def test_every_answer_has_an_id_and_a_time_and_is_safe(client: httpx.Client):
    for response in every_kind_of_answer(client):
        assert re.fullmatch(r"[0-9a-f]{16}", response.headers["x-request-id"])
        assert "total;dur=" in response.headers["server-timing"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] in ("no-store", "no-cache", "private, no-cache")
        assert "server" not in response.headers


@pytest.mark.parametrize("given", ["abc", "A.b_c:d-1", "x" * 128])
def test_a_well_formed_request_id_is_taken_over(client: httpx.Client, given: str):
    for path in ("/healthz", "/nope"):
        assert client.get(path, headers={"X-Request-Id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "<script>"])
def test_another_request_id_is_replaced(client: httpx.Client, given: str):
    assert re.fullmatch(
        r"[0-9a-f]{16}", client.get("/healthz", headers={"X-Request-Id": given}).headers["x-request-id"]
    )


def test_a_head_is_a_get_without_the_body(client: httpx.Client, memory: dict[str, Any]):
    url = f"{API}/memories/{memory['id']}"
    assert client.head(url).headers["etag"] == client.get(url).headers["etag"]


def test_every_read_and_write_of_a_space_says_its_point_of_history(client: httpx.Client):
    memory = client.post(f"{API}/memories", json=draft(category="a", key="b"))
    url = memory.headers["location"]
    answers = [
        memory, client.get(url), client.get(f"{url}/history"), client.get(f"{API}/memories"),
        client.get(f"{API}/entries/a/b"), client.get(f"{API}/stats"), client.get(f"{API}/tags"),
        client.get(f"{API}/categories"), client.get(API), client.post(f"{API}/search", json={"query": "deploy"}),
    ]  # fmt: skip
    points = [answer.headers["muisti-seq"] for answer in answers]
    assert len(set(points)) == 1 and SEQ.fullmatch(points[0])
    assert client.patch(url, json={"author": "x"}).headers["muisti-seq"] == points[0].replace(":1", ":2")
    assert client.delete(url).headers["muisti-seq"] == points[0].replace(":1", ":3")


def test_a_reader_that_has_seen_what_is_here_is_answered(client: httpx.Client):
    seq = client.post(f"{API}/memories", json=draft()).headers["muisti-seq"]
    assert client.get(f"{API}/memories", headers={"Muisti-Min-Seq": seq}).status_code == 200


def test_a_reader_waits_for_what_is_not_here_yet(client: httpx.Client):
    epoch = client.get(API).headers["muisti-seq"].partition(":")[0]
    with ThreadPoolExecutor(1) as later:
        waiting = later.submit(client.get, f"{API}/memories", headers={"Muisti-Min-Seq": f"{epoch}:1"})
        client.post(f"{API}/memories", json=draft())
        assert len(waiting.result().json()["items"]) == 1


def test_a_reader_that_waits_in_vain_is_told_so(client: httpx.Client):
    epoch = client.get(API).headers["muisti-seq"].partition(":")[0]
    response = client.get(f"{API}/stats", headers={"Muisti-Min-Seq": f"{epoch}:7"})
    assert (response.status_code, response.json()["code"]) == (503, "not_yet_replicated")
    assert response.headers["retry-after"] == "1"
    assert float(response.headers["server-timing"].partition("dur=")[2]) >= 1000 * WAIT_SECONDS


def test_a_point_of_a_space_that_was_made_anew_is_gone(client: httpx.Client):
    seq = client.post("/v1/spaces", json={"name": "x"}).headers["muisti-seq"]
    client.delete("/v1/spaces/x?confirm=x")
    client.post("/v1/spaces", json={"name": "x"})
    response = client.get("/v1/spaces/x/stats", headers={"Muisti-Min-Seq": seq})
    assert (response.status_code, response.json()["code"]) == (410, "epoch_gone")


@pytest.mark.parametrize("header", ["", "5", "x:5", "b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:-1"])
def test_a_malformed_point_is_said_to_be_malformed(client: httpx.Client, header: str):
    response = client.get(f"{API}/stats", headers={"Muisti-Min-Seq": header})
    assert (response.status_code, response.json()["code"]) == (400, "malformed_header")


@pytest.mark.parametrize("asked", ["session", "strong", "bounded;max-age=500ms", "bounded; max-age=2s"])
def test_what_is_written_here_is_read_here_however_fresh(client: httpx.Client, asked: str):
    headers = {"Muisti-Freshness": asked}
    for turn in range(3):
        client.post(f"{API}/memories", json=draft(f"heron number {turn}"), params={"on_conflict": "keep"})
        reply = client.post(f"{API}/search", json={"query": "heron", "mode": "keyword"}, headers=headers)
        assert reply.json()["total"] == turn + 1
        assert len(client.get(f"{API}/memories", headers=headers).json()["items"]) == turn + 1


@pytest.mark.parametrize("asked", ["", "Strong!", "bounded", "bounded;max-age=-1s", "bounded;max-age=1", "strong;x"])
def test_a_malformed_freshness_is_said_to_be_malformed(client: httpx.Client, asked: str):
    response = client.get(f"{API}/stats", headers={"Muisti-Freshness": asked})
    assert (response.status_code, response.json()["code"]) == (400, "malformed_header")


def same_answer(first: httpx.Response, second: httpx.Response) -> bool:
    kept = ("etag", "location", "muisti-seq", "content-type")
    return (first.status_code, first.content, [first.headers.get(name) for name in kept]) == (
        second.status_code,
        second.content,
        [second.headers.get(name) for name in kept],
    )


@pytest.mark.parametrize(("method", "path", "body"), [
    ("POST", "/memories", draft("new")), ("POST", "/memories/batch", {"memories": [draft("new")]}),
    ("PATCH", "/memories/{id}", {"author": "Bob"}), ("PUT", "/entries/a/b", draft("new")),
    ("DELETE", "/memories/{id}", None),
])  # fmt: skip
def test_a_repeated_request_has_the_same_answer_and_no_effect(
    client: httpx.Client, memory: dict[str, Any], method: str, path: str, body: Any
):
    url = API + path.replace("{id}", memory["id"])
    first, second = (client.request(method, url, json=body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.is_success and same_answer(first, second)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    changes = client.get(f"{API}/stats").json()["changes"]
    assert changes == 2


def test_a_replay_comes_before_the_check_of_the_version(client: httpx.Client, memory: dict[str, Any]):
    headers = {"Idempotency-Key": "k", "If-Match": f'"{memory["id"]}.1"'}
    url = f"{API}/memories/{memory['id']}"
    first, second = (client.patch(url, json={"author": "Bob"}, headers=headers) for _ in range(2))
    assert same_answer(first, second)


def test_repetitions_at_the_same_time_are_done_once(client: httpx.Client):
    start = threading.Barrier(8)

    def add() -> httpx.Response:
        start.wait()
        return client.post(f"{API}/memories", json=draft(), headers={"Idempotency-Key": "k"})

    with ThreadPoolExecutor(8) as pool:
        answers = [future.result() for future in [pool.submit(add) for _ in range(8)]]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotent-replayed" in answer.headers for answer in answers) == 7
    assert client.get(f"{API}/stats").json()["memories"] == 1


def test_a_key_with_another_request_is_refused(client: httpx.Client):
    key = {"Idempotency-Key": "k"}
    client.post(f"{API}/memories", json=draft(), headers=key)
    for response in (
        client.post(f"{API}/memories", json=draft("other"), headers=key),
        client.post(f"{API}/memories?on_conflict=keep", json=draft(), headers=key),
        client.put(f"{API}/entries/a/b", json=draft(), headers=key),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "idempotency_key_reused")


def test_keys_of_two_spaces_do_not_meet(client: httpx.Client):
    client.post("/v1/spaces", json={"name": "other"})
    key = {"Idempotency-Key": "k"}
    ids = {
        client.post(f"/v1/spaces/{s}/memories", json=draft(), headers=key).json()["id"] for s in ("default", "other")
    }
    assert len(ids) == 2


def test_a_refusal_is_not_remembered(client: httpx.Client, memory: dict[str, Any]):
    key = {"Idempotency-Key": "k"}
    assert client.post(f"{API}/memories", json=draft(), headers=key).status_code == 409
    client.delete(f"{API}/memories/{memory['id']}")
    assert client.post(f"{API}/memories", json=draft(), headers=key).status_code == 201


def test_a_key_is_forgotten_after_a_day(client: httpx.Client, clock: Clock):
    key = {"Idempotency-Key": "k"}
    first = client.post(f"{API}/memories", json=draft("a"), headers=key)
    clock.pass_days(1.01)
    second = client.post(f"{API}/memories", json=draft("b"), headers=key)
    assert second.status_code == 201 and not same_answer(first, second)


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "\u00e4"])
def test_a_malformed_key_is_said_to_be_malformed(client: httpx.Client, key: str):
    headers = {"Idempotency-Key": key.encode("latin-1")}
    response = client.post(f"{API}/memories", json=draft(), headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "malformed_header")


@pytest.mark.parametrize("host", ["localhost", "localhost:8321", "127.0.0.1:8321", "[::1]:8321", "muisti.internal"])
def test_a_server_answers_to_its_own_names(engine: Engine, host: str):
    with TestClient(create_app(Settings(), engine=engine, own_host="muisti.internal")) as client:
        assert client.get("/v1/spaces", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8321"])
def test_a_page_that_makes_its_name_lead_here_gets_nothing(engine: Engine, host: str):
    with TestClient(create_app(Settings(), engine=engine, own_host="127.0.0.1")) as client:
        response = client.get("/v1/spaces", headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "unknown_host")
    assert response.headers["x-request-id"]
