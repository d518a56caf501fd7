"""Many memories in one request."""

import json
from typing import Any

import httpx
import pytest

from tests.service.fakes import API, draft, lines

pytestmark = pytest.mark.one_store

URL = f"{API}/memories/batch"
NDJSON = {"Content-Type": "application/x-ndjson"}


def send(client: httpx.Client, *memories: Any, **choices: Any) -> httpx.Response:
    return client.post(URL, json={"memories": memories, **choices})


def count(client: httpx.Client) -> int:
    return client.get(f"{API}/stats").json()["memories"]


def test_a_batch_is_answered_in_its_order(client: httpx.Client):
    response = send(client, *(draft(f"memory {n}") for n in range(5)))
    body = response.json()
    assert response.status_code == 201
    assert [memory["content"] for memory in body["items"]] == [f"memory {n}" for n in range(5)]
    assert response.headers["muisti-seq"] == body["seq"]
    assert body["seq"].endswith(":5")


def test_the_same_text_is_kept_unless_the_batch_says_reject(client: httpx.Client):
    assert send(client, draft(), draft()).status_code == 201
    refused = send(client, draft("new"), draft(), on_conflict="reject")
    assert (refused.status_code, refused.json()["code"]) == (409, "duplicate")
    assert count(client) == 2


def test_one_bad_memory_refuses_an_atomic_batch_and_all_bad_ones_are_named(client: httpx.Client):
    response = send(client, draft("good"), {"content": 5}, draft("fine"), {"contnt": "x"}, {"content": " "})
    paths = [problem["path"] for problem in response.json()["errors"]]
    assert (response.status_code, paths) == (422, ["$.memories[1].content", "$.memories[3].contnt"])
    blank = send(client, draft("good"), {"content": " "})
    assert (blank.status_code, blank.json()["errors"][0]["path"]) == (422, "$.memories[1].content")
    assert count(client) == 0


def test_without_atomic_each_memory_has_its_own_answer(client: httpx.Client):
    bad: list[Any] = [{"content": 5}, {"content": ""}, draft("twice"), {"content": "x", "key": "k"}, "text"]
    memories = [draft("one"), *bad[:2], draft("twice"), *bad[2:], draft("last")]
    response = send(client, *memories, atomic=False, on_conflict="reject")
    body = response.json()
    statuses = [item["status"] for item in body["items"]]
    assert response.status_code == 200
    assert statuses == ["created", "failed", "failed", "created", "failed", "failed", "failed", "created"]
    assert (body["created"], body["failed"]) == (3, 5)
    assert [item["index"] for item in body["items"]] == list(range(8))
    codes = [item["problem"]["code"] for item in body["items"] if item["status"] == "failed"]
    assert codes == ["invalid_input", "invalid_input", "duplicate", "invalid_input", "invalid_input"]
    for item in body["items"]:
        assert set(item) == {"index", "status", "memory" if item["status"] == "created" else "problem"}
    places = {item["index"]: item["problem"]["errors"] for item in body["items"] if item["status"] == "failed"}
    assert places[2][0]["path"] == "$.memories[2].content"
    assert count(client) == 3


def test_a_batch_that_is_all_bad_creates_nothing_and_has_no_seq(client: httpx.Client):
    body = send(client, {}, {"content": ""}, atomic=False).json()
    assert (body["created"], body["failed"], body["seq"]) == (0, 2, None)


def test_a_missing_space_is_no_failure_of_the_items(client: httpx.Client):
    response = client.post("/v1/spaces/nope/memories/batch", json={"memories": [draft()], "atomic": False})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("size", [0, 1001])
def test_the_size_of_a_batch_is_bounded(client: httpx.Client, size: int):
    response = send(client, *(draft(f"memory {n}") for n in range(size)))
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.memories")
    assert "1,000" in response.json()["detail"]


def test_the_largest_batch_is_stored_whole(client: httpx.Client):
    assert send(client, *(draft(f"memory {n}") for n in range(1000))).status_code == 201
    assert count(client) == 1000


def test_lines_of_json_are_a_batch(client: httpx.Client):
    body = lines(json.dumps(draft("one")).encode(), b"", b'{"content": "two"}\r', b"  ")
    response = client.post(URL, content=body, headers=NDJSON)
    assert response.status_code == 201
    assert [memory["content"] for memory in response.json()["items"]] == ["one", "two"]


def test_lines_take_their_choices_from_the_query_string(client: httpx.Client):
    body = lines(b'{"content": "one"}', b"{broken", b'{"content": "one"}', b'{"content": "\xff"}')
    response = client.post(f"{URL}?atomic=false&on_conflict=reject", content=body, headers=NDJSON)
    assert response.status_code == 200
    problems = [item.get("problem", {}).get("code") for item in response.json()["items"]]
    assert problems == [None, "malformed_json", "duplicate", "malformed_json"]
    assert client.post(URL, content=body, headers=NDJSON).json()["code"] == "malformed_json"


def test_choices_that_contradict_each_other_are_refused(client: httpx.Client):
    response = client.post(f"{URL}?atomic=true", json={"memories": [draft()], "atomic": False})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.atomic")


def test_a_batch_that_is_not_atomic_cannot_be_replayed_and_says_so(client: httpx.Client):
    response = client.post(URL, json={"memories": [draft()], "atomic": False}, headers={"Idempotency-Key": "k"})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.atomic")
    assert "Idempotency-Key" in response.json()["detail"]
    assert count(client) == 0
