"""Memories by their address."""

from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

URL = f"{API}/entries/rules/deploy"


def test_a_put_creates_and_then_replaces(client: httpx.Client):
    first = client.put(URL, json=draft("on Fridays", tags=["a"]))
    second = client.put(URL, json=draft("on Thursdays"))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.headers["location"] == f"{API}/memories/{first.json()['id']}"
    assert "location" not in second.headers
    assert (second.json()["id"], second.json()["version"], second.json()["tags"]) == (first.json()["id"], 2, [])
    found = client.get(f"{API}/entries/RULES/deploy")
    assert {**found.json(), "flags": []} == second.json()
    assert found.headers["etag"] == second.headers["etag"] == f'"{first.json()["id"]}.2"'


@pytest.mark.parametrize("address", ["a%2Fb/c%2Fd", "%C3%A4/%E2%82%AC", "a%252Fb/x", "a b/c.d"])
def test_an_address_may_hold_any_character(client: httpx.Client, address: str):
    stored = client.put(f"{API}/entries/{address}", json=draft()).json()
    assert [stored["category"], stored["key"]] == [unquote(part) for part in address.split("/")]
    assert {**client.get(f"{API}/entries/{address}").json(), "flags": []} == stored


def test_an_encoded_slash_is_no_border(client: httpx.Client):
    stored = client.put(f"{API}/entries/a%2Fb/c%2fd", json=draft()).json()
    assert (stored["category"], stored["key"]) == ("a/b", "c/d")
    assert client.get(f"{API}/entries/a/b/c/d").json()["code"] == "no_route"


def test_the_address_is_no_field_of_the_body(client: httpx.Client):
    response = client.put(URL, json=draft(category="other"))
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.category")


def test_a_put_honours_if_match(client: httpx.Client):
    etag = client.put(URL, json=draft("one")).headers["etag"]
    assert client.put(URL, json=draft("two"), headers={"If-Match": etag}).status_code == 200
    assert client.put(URL, json=draft("three"), headers={"If-Match": etag}).status_code == 412
    assert client.put(URL, json=draft("three"), headers={"If-Match": "*"}).status_code == 200


def test_if_match_does_not_take_a_successor_at_the_address_for_the_memory(client: httpx.Client):
    etag = client.put(URL, json=draft("one")).headers["etag"]
    client.delete(URL)
    client.put(URL, json=draft("another, and also version 1"))
    assert client.put(URL, json=draft("two"), headers={"If-Match": etag}).status_code == 412
    assert client.delete(URL, headers={"If-Match": etag}).status_code == 412


def test_if_match_where_nothing_is_finds_nothing(client: httpx.Client):
    assert client.put(URL, json=draft(), headers={"If-Match": "*"}).json()["code"] == "not_found"


def test_a_replayed_delete_is_answered_like_the_first_though_the_entry_is_gone(client: httpx.Client):
    client.put(URL, json=draft())
    answers = [client.delete(URL, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 204]
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert answers[0].headers["muisti-seq"] == answers[1].headers["muisti-seq"]


BY_ID, BY_ADDRESS = "/memories/{memory_id}", "/entries/{category}/{key}"


def test_every_route_by_id_has_one_by_address_that_takes_and_answers_the_same(client: httpx.Client):
    paths = client.get("/openapi.json").json()["paths"]
    routes = {path: item for path, item in paths.items() if BY_ID in path}
    assert len(routes) >= 6
    for path, item in routes.items():
        twin = paths[path.replace(BY_ID, BY_ADDRESS)]
        assert item.keys() <= twin.keys(), path
        for method, operation in item.items():
            assert asked(operation) == asked(twin[method]), (method, path)


def asked(operation: dict[str, Any]) -> Any:
    """Return the parameters, body, responses and security of an operation, without how it names the memory."""
    parameters = [one for one in operation["parameters"] if one.get("name") not in ("memory_id", "category", "key")]
    bodies = {
        status: {media: content["schema"] for media, content in answer.get("content", {}).items()}
        for status, answer in operation["responses"].items()
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return parameters, body, bodies, operation.get("security")


def test_an_entry_is_changed_superseded_deleted_and_restored_at_its_address(client: httpx.Client):
    first = client.put(URL, json=draft("on Fridays")).json()
    changed = client.patch(URL, json={"author": "Ann"}, headers={"If-Match": f'"{first["id"]}.1"'})
    assert (changed.status_code, changed.json()["id"], changed.json()["version"]) == (200, first["id"], 2)
    assert client.patch(URL, json={"author": "Bob"}, headers={"If-Match": f'"{first["id"]}.1"'}).status_code == 412
    replays = [client.patch(URL, json={"reason": "r"}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [one.json()["version"] for one in replays] == [3, 3]
    assert client.patch(URL, json={"reason": "x"}, params={"dry_run": "true"}).json()["changes"] == 1
    assert client.get(URL).json()["reason"] == "r"
    second = client.post(f"{URL}/supersede", json={"content": "on Mondays"})
    assert (second.status_code, second.json()["supersedes"], second.json()["key"]) == (201, first["id"], "deploy")
    assert client.get(f"{URL}/history").json()["chain"] == [first["id"], second.json()["id"]]
    assert client.put(f"{URL}/feedback", json={"verdict": "useful"}).json()["useful"] == 1
    assert client.get(f"{URL}/telemetry").json()["feedback"] == "useful"
    assert client.delete(URL).status_code == 204
    assert client.patch(URL, json={"reason": "x"}).json()["code"] == "not_found"
    assert client.get(f"{URL}/history").json()["items"][0]["memory"]["id"] == second.json()["id"]
    assert client.post(f"{URL}/restore", json={}).json()["content"] == "on Mondays"
    purged = client.delete(URL, params={"purge": "true"}).json()
    assert purged["report"]["what"] == {"memory": second.json()["id"]}
    assert client.delete(URL, params={"purge": "true"}).status_code == 404
    assert client.get(f"{URL}/history").json()["chain"] == [first["id"]]
