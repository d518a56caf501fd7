"""Memories over HTTP: every route, versions, lists."""

from typing import Any

import httpx
import pytest

from muisti.service.schemas.replies import AddedReply, MemoryReply
from tests.core.fakes import Clock
from tests.service.fakes import API, draft

FULL = {
    "content": "Anna prefers tea", "kind": "exchange", "category": "Taste", "key": "anna/tea", "type": "preference",
    "status": "candidate", "importance": "high", "author": "Anna", "reason": "she said so twice", "source": "chat",
    "tags": ["Drink", "drink", "anna"], "metadata": {"session": "s1", "turn": 3, "deep": {"list": [1, None, "x"]}},
    "event_at": "2026-01-31T09:30:00+02:00", "valid_from": "2026-01-31T00:00:00Z",
    "valid_to": "2026-02-28T00:00:00+02:00", "expires_at": "2999-01-01T00:00:00Z",
}  # fmt: skip


def test_a_new_memory_is_answered_with_all_its_fields_and_where_it_is(client: httpx.Client):
    response = client.post(f"{API}/memories", json=FULL)
    body = response.json()
    assert response.status_code == 201
    assert set(body) == set(AddedReply.__struct_fields__) - {"degraded", "suggestions"}  # absent when empty
    assert response.headers["location"] == f"{API}/memories/{body['id']}"
    assert response.headers["etag"] == f'"{body["id"]}.1"'
    assert body["event_at"] == "2026-01-31T07:30:00Z"
    assert (body["valid_from"], body["valid_to"]) == ("2026-01-31T00:00:00Z", "2026-02-27T22:00:00Z")
    assert body["tags"] == ["Drink", "anna"]
    assert {name: body[name] for name in ("key", "metadata", "importance")} == {
        name: FULL[name] for name in ("key", "metadata", "importance")
    }
    stored = client.get(response.headers["location"]).json()
    assert stored == {name: body[name] for name in MemoryReply.__struct_fields__}


def test_the_same_text_is_refused_unless_it_is_to_be_kept(client: httpx.Client, memory: dict[str, Any]):
    again = client.post(f"{API}/memories", json=draft("we  DEPLOY on fridays; ticket qx-991"))
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert [(one["id"], one["kind"]) for one in again.json()["conflicts"]] == [(memory["id"], "duplicate")]
    assert client.post(f"{API}/memories", json=draft(on_conflict="keep")).status_code == 201
    assert client.post(f"{API}/memories?on_conflict=keep", json=draft()).status_code == 201


def test_two_answers_to_what_happens_on_conflict_are_refused(client: httpx.Client):
    response = client.post(f"{API}/memories?on_conflict=keep", json=draft(on_conflict="reject"))
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.on_conflict")


def test_an_address_belongs_to_one_memory(client: httpx.Client):
    first = client.post(f"{API}/memories", json=draft("a", category="rules", key="deploy")).json()
    second = client.post(f"{API}/memories", json=draft("b", category="RULES", key="deploy"))
    assert (second.status_code, second.json()["code"]) == (409, "address_taken")
    (holder,) = second.json()["conflicts"]
    assert (holder["id"], holder["kind"], holder["content"], holder["key"]) == (first["id"], "address", "a", "deploy")


def test_a_patch_changes_what_it_names_and_makes_a_version(client: httpx.Client):
    before = client.post(f"{API}/memories", json=FULL).json()
    response = client.patch(
        f"{API}/memories/{before['id']}", json={"content": "Anna prefers coffee", "author": None, "metadata": None}
    )
    after = response.json()
    assert (response.status_code, response.headers["etag"]) == (200, f'"{before["id"]}.2"')
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"content", "author", "metadata", "version", "updated_at"}
    assert (after["author"], after["metadata"], after["version"]) == (None, {}, 2)


def test_metadata_and_tags_are_replaced_as_a_whole(client: httpx.Client):
    before = client.post(f"{API}/memories", json=FULL).json()
    after = client.patch(f"{API}/memories/{before['id']}", json={"metadata": {"turn": 4}, "tags": None}).json()
    assert (after["metadata"], after["tags"]) == ({"turn": 4}, [])


def test_an_empty_patch_changes_nothing(client: httpx.Client, memory: dict[str, Any]):
    response = client.patch(f"{API}/memories/{memory['id']}", json={})
    found = client.get(f"{API}/memories/{memory['id']}").json()
    assert (response.status_code, response.json()) == (200, {**found, "flags": []})
    assert response.json()["version"] == 1


@pytest.mark.parametrize("name", ["content", "type", "status", "importance", "kind"])
def test_what_every_memory_has_cannot_be_cleared(client: httpx.Client, memory: dict[str, Any], name: str):
    response = client.patch(f"{API}/memories/{memory['id']}", json={name: None})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, f"$.{name}")


def test_a_change_upon_a_stale_version_is_refused(client: httpx.Client, memory: dict[str, Any]):
    url, etag = f"{API}/memories/{memory['id']}", f'"{memory["id"]}.1"'
    assert client.patch(url, json={"author": "a"}, headers={"If-Match": etag}).status_code == 200
    for response in (
        client.patch(url, json={"author": "b"}, headers={"If-Match": etag}),
        client.delete(url, headers={"If-Match": etag}),
    ):
        assert (response.status_code, response.json()["code"]) == (412, "stale_version")


@pytest.mark.parametrize("template", ['"x.9", "{id}.1"', "*", ' "{id}.1" '])
def test_if_match_takes_a_list_and_a_star(client: httpx.Client, memory: dict[str, Any], template: str):
    header = template.replace("{id}", memory["id"])
    response = client.patch(f"{API}/memories/{memory['id']}", json={"author": "a"}, headers={"If-Match": header})
    assert response.status_code == 200


@pytest.mark.parametrize("template", ['W/"{id}.1"', '"other.1"', '"{id}.2"'])
def test_if_match_of_another_version_is_stale(client: httpx.Client, memory: dict[str, Any], template: str):
    header = template.replace("{id}", memory["id"])
    response = client.delete(f"{API}/memories/{memory['id']}", headers={"If-Match": header})
    assert response.status_code == 412


@pytest.mark.parametrize("header", ["1", '"open', "", '"a" "b"', '"a",'])
def test_a_malformed_if_match_is_said_to_be_malformed(client: httpx.Client, memory: dict[str, Any], header: str):
    response = client.delete(f"{API}/memories/{memory['id']}", headers={"If-Match": header})
    assert (response.status_code, response.json()["code"]) == (400, "malformed_header")


def test_a_deleted_memory_is_gone_but_for_its_history(client: httpx.Client, memory: dict[str, Any]):
    url = f"{API}/memories/{memory['id']}"
    client.patch(url, json={"author": "Bob"})
    gone = client.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    assert [call.status_code for call in (client.get(url), client.delete(url), client.patch(url, json={}))] == [404] * 3
    versions = client.get(f"{url}/history").json()["items"]
    assert [version["memory"]["version"] for version in versions] == [2, 1]
    assert all(version["died_at"] for version in versions)
    assert set(versions[0]) == {"memory", "born", "died", "born_at", "died_at", "changes"}


def test_a_reader_who_has_the_version_gets_no_body(client: httpx.Client, memory: dict[str, Any]):
    url = f"{API}/memories/{memory['id']}"
    for header in (f'"{memory["id"]}.1"', f'W/"{memory["id"]}.1"', "*", f'"x", "{memory["id"]}.1"'):
        response = client.get(url, headers={"If-None-Match": header})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == f'"{memory["id"]}.1"'
    assert client.get(url, headers={"If-None-Match": '"old"'}).status_code == 200


def test_a_memory_with_anchors_is_sent_again_as_their_states_change_without_it(client: httpx.Client):
    made = client.post(f"{API}/memories", json=draft(anchors=["a.py:run"]))
    assert client.get(made.headers["location"], headers={"If-None-Match": made.headers["etag"]}).status_code == 200


def test_if_none_match_on_a_change_is_refused_rather_than_ignored(client: httpx.Client):
    response = client.put(f"{API}/entries/rules/deploy", json=draft(), headers={"If-None-Match": "*"})
    assert (response.status_code, response.json()["code"]) == (400, "malformed_header")


def test_a_time_to_live_is_an_end_from_now_on(client: httpx.Client, clock: Clock):
    memory = client.post(f"{API}/memories", json=draft(ttl=3 * 86_400)).json()
    assert "ttl" not in memory and memory["expires_at"] > memory["created_at"]
    url = f"{API}/memories/{memory['id']}"
    clock.pass_days(2)
    longer = client.patch(url, json={"ttl": 3 * 86_400}).json()
    assert (longer["version"], longer["expires_at"] > memory["expires_at"]) == (2, True)
    clock.pass_days(2)
    assert client.get(url).status_code == 200
    clock.pass_days(1.1)
    assert client.get(url).status_code == 404
    for bad in ({"ttl": 0}, {"ttl": 5, "expires_at": "2999-01-01T00:00:00Z"}):
        refused = client.post(f"{API}/memories", json=draft("b", **bad))
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "$.ttl")
    forever = client.post(f"{API}/memories", json=draft("c", ttl=60)).json()
    assert client.patch(f"{API}/memories/{forever['id']}", json={"expires_at": None}).json()["expires_at"] is None


def test_every_other_parameter_of_a_list_is_a_filter(client: httpx.Client):
    for n, tags in enumerate((["a"], ["b"], ["a", "c"])):
        holds = {"valid_from": f"202{n}-01-01T00:00:00Z", "valid_to": None if n == 2 else f"202{n + 1}-01-01T00:00:00Z"}
        client.post(f"{API}/memories", json=draft(f"memory {n}", tags=tags, metadata={"n": n}, **holds))

    def found(query: str) -> list[int]:
        return sorted(m["metadata"]["n"] for m in client.get(f"{API}/memories?{query}").json()["items"])

    assert found("tags=A") == [0, 2]
    assert found("tags=b,c") == [1, 2]
    assert found("metadata.n.gte=1&tags=a") == [2]
    assert [found(f"valid_at={year}-01-01") for year in (2019, 2020, 2021, 2030)] == [[], [0], [1], [2]]
    assert found("valid_to.lte=2021-06-01&valid_from.exists=true") == [0]
    assert found('filter={"or":[{"tags":"b"},{"metadata.n":0}]}') == [0, 1]


@pytest.mark.parametrize(("query", "path"), [
    ("limit=0", "$.limit"), ("limit=101", "$.limit"), ("limit=ten", "$.limit"), ("limit=1&limit=2", "$.limit"),
    ("cursor=nonsense", "$.cursor"), ("colour=red", "$.colour"), ("created_at.gte=soon", "$.created_at.gte"),
    ("valid_at.gte=2026-01-01", "$.valid_at.gte"), ("filter={", "$.filter"),
])  # fmt: skip
def test_a_bad_parameter_is_named(client: httpx.Client, query: str, path: str):
    response = client.get(f"{API}/memories?{query}")
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, path)


def test_limits_are_said_with_the_value(client: httpx.Client):
    page = client.get(f"{API}/memories?limit=101").json()["detail"]
    text = client.post(f"{API}/memories", json=draft("x" * 102_401)).json()["detail"]
    assert "101" in page and "between 1 and 100" in page
    assert "102,401" in text and "102,400" in text


@pytest.mark.parametrize(("body", "path"), [
    ({}, "$.content"), ({"content": 5}, "$.content"), ({"content": "  "}, "$.content"),
    ({"content": "a\0b"}, "$.content"), ({"content": "a", "contnt": "b"}, "$.contnt"),
    ({"content": "a", "dry_run": True}, "$.dry_run"), ({"content": "a", "type": "rumour"}, "$.type"),
    ({"content": "a", "status": "superseded"}, "$.status"), ({"content": "a", "key": "k"}, "$.key"),
    ({"content": "a", "tags": "b"}, "$.tags"), ({"content": "a", "tags": ["b", 1]}, "$.tags[1]"),
    ({"content": "a", "tags": [""]}, "$.tags[0]"), ({"content": "a", "metadata": []}, "$.metadata"),
    ({"content": "a", "event_at": "soon"}, "$.event_at"),
    ({"content": "a", "event_at": "0001-01-01T00:00:00+10:00"}, "$.event_at"),
    ({"content": "a", "expires_at": "2001-01-01T00:00:00Z"}, "$.expires_at"),
    ({"content": "a", "valid_from": "2026-13-01"}, "$.valid_from"),
    ({"content": "a", "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}, "$.valid_to"),
    ({"content": "a", "parent_id": "x"}, "$.parent_id"),
    ({"content": "a", "parent_id": "0197a3c0-5f4e-7000-8000-0123456789ab"}, "$.parent_id"),
    ({"content": "a", "on_conflict": "replace"}, "$.on_conflict"),
])  # fmt: skip
def test_a_bad_field_is_named(client: httpx.Client, body: dict[str, Any], path: str):
    response = client.post(f"{API}/memories", json=body)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "invalid_input")
    assert problem["errors"][0]["path"] == path
    assert problem["errors"][0]["message"]


@pytest.mark.parametrize("parameter", ["whole=true", "limit=1"])
def test_a_parameter_that_does_nothing_is_refused(client: httpx.Client, memory: dict[str, Any], parameter: str):
    response = client.delete(f"{API}/memories/{memory['id']}?{parameter}")
    assert response.status_code == 422
    assert client.get(f"{API}/memories/{memory['id']}").status_code == 200


def test_a_space_that_is_missing_and_an_id_that_is_none_are_not_found(client: httpx.Client):
    urls = ("/v1/spaces/nope/memories", f"{API}/memories/nope", f"{API}/memories/nope/history", f"{API}/entries/a/b")
    assert [client.get(url).json()["code"] for url in urls] == ["not_found"] * 4


def test_a_history_has_pages_by_number_and_by_size(client: httpx.Client, memory: dict[str, Any]):
    at = f"{API}/memories/{memory['id']}"
    for number in range(4):
        assert client.patch(at, json={"content": f"{number} {'tea ' * 20_000}", "reason": "why"}).status_code == 200
    whole = client.get(f"{at}/history").json()
    assert [one["memory"]["version"] for one in whole["items"]] == [5, 4, 3, 2, 1] and whole["next_cursor"] is None
    found, path = [], f"{at}/history?limit=2"
    while path is not None:
        page = client.get(path)
        assert len(page.json()["items"]) <= 2 and page.json()["chain"] == whole["chain"]
        found += page.json()["items"]
        path = page.links.get("next", {}).get("url")
    assert found == whole["items"]
    for number in range(20):
        client.patch(at, json={"content": f"{number} {'milk ' * 19_000}"})
    page = client.get(f"{at}/history").json()
    assert 0 < len(page["items"]) < 20 and page["next_cursor"] == str(page["items"][-1]["memory"]["version"])
    for wrong in ("x", "-1", "9" * 20):
        assert client.get(f"{at}/history", params={"cursor": wrong}).status_code == 422
