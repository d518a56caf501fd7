"""The paths of memory stores keep the contract that the SDK documents."""

from typing import Any

import httpx
import pytest

from tests.core.fakes import Clock
from tests.service.fakes import API, draft
from tests.service.memory_stores.calls import (
    DEFAULT,
    STORES,
    digest,
    edited,
    file,
    pages,
    paths,
    refused,
    store,
    told,
)

LONG = "/" + "/".join(["Ä" * 24] * 20)  # 980 bytes, 20 segments


def test_a_store_is_a_space_that_says_of_itself_what_it_is_told(client: httpx.Client, clock: Clock):
    made = told(client.post(STORES, json={"name": "Ann's Notes", "description": "d", "metadata": {"a": "1", "b": "2"}}))
    assert made["id"] == "memstore_ann-s-notes" and made["updated_at"] == made["created_at"]
    at = f"{STORES}/{made['id']}"
    clock.at += 10
    changed = told(client.post(at, json={"description": "", "metadata": {"a": None, "c": "3"}}))
    assert changed == told(client.get(at)) and changed["updated_at"] > made["updated_at"]
    told_of = (changed["type"], changed["name"], changed["description"], changed["metadata"])
    assert told_of == ("memory_store", "Ann's Notes", "", {"b": "2", "c": "3"})
    assert client.get("/v1/spaces/ann-s-notes").json()["description"] is None
    twin = told(client.post(STORES, json={"name": "Ann's Notes"}))
    assert twin["name"] == made["name"] and twin["id"] != made["id"]
    assert told(client.delete(at)) == {"id": made["id"], "type": "memory_store_deleted"}
    assert refused(client.get(at)) == (404, "not_found_error")
    assert refused(client.delete(DEFAULT)) == (409, "conflict_error")


@pytest.mark.parametrize(
    "body",
    [
        {}, {"name": ""}, {"name": "x" * 256}, {"name": "a\nb"}, {"name": "x", "description": "d" * 1_025},
        {"name": "x", "metadata": {str(n): "" for n in range(17)}}, {"name": "x", "metadata": {"k" * 65: ""}},
        {"name": "x", "metadata": {"k": "v" * 513}}, {"name": "x", "metadata": {"k": 1}}, [], {"name": None},
    ],
)  # fmt: skip
def test_a_store_that_breaks_a_bound_is_refused(client: httpx.Client, body: Any):
    assert refused(client.post(STORES, json=body)) == (400, "invalid_request_error")


def test_stores_are_listed_newest_first_page_by_page(client: httpx.Client, clock: Clock):
    for name in ("One", "Two", "Three"):
        clock.at += 1_000_000
        last = store(client, name)
    told(client.post(f"{last}/archive"))
    assert [one["name"] for one in pages(client, STORES, limit=1)] == ["Two", "One", "default"]
    everything = pages(client, STORES, limit=2, include_archived="true")
    assert [one["name"] for one in everything] == ["Three", "Two", "One", "default"]
    since = {"created_at[gte]": everything[2]["created_at"], "created_at[lte]": everything[1]["created_at"]}
    assert [one["name"] for one in pages(client, STORES, **since)] == ["Two", "One"]
    for wrong in ({"limit": 0}, {"limit": 101}, {"page": "?"}, {"created_at[gte]": "soon"}):
        assert refused(client.get(STORES, params=wrong)) == (400, "invalid_request_error")


def test_a_memory_is_created_read_changed_and_deleted(client: httpx.Client, clock: Clock):
    made = file(client, DEFAULT, "/Projects/a.md", "Füße")
    at = f"{DEFAULT}/memories/{made['id']}"
    assert (made["type"], made["path"], made["content"]) == ("memory", "/Projects/a.md", None)
    assert (made["content_size_bytes"], made["content_sha256"]) == (6, digest("Füße"))
    assert told(client.get(at)) == {**made, "content": "Füße"}
    assert told(client.get(at, params={"view": "basic"})) == made
    clock.at += 10
    changed = edited(client, DEFAULT, made, "Hände")
    assert changed["updated_at"] > made["updated_at"] and changed["memory_version_id"] != made["memory_version_id"]
    assert edited(client, DEFAULT, made, "Hände") == told(client.post(at, json={})) == changed, "nothing changed"
    moved = told(client.post(at, params={"view": "full"}, json={"path": "/b.md"}))
    assert (moved["id"], moved["path"], moved["content"]) == (made["id"], "/b.md", "Hände")
    assert told(client.delete(at)) == {"id": made["id"], "type": "memory_deleted"}
    assert refused(client.get(at)) == refused(client.delete(at)) == (404, "not_found_error")
    for body in ({}, {"content": None}):
        assert refused(client.post(at, json=body)) == (404, "not_found_error")


def test_a_path_belongs_to_one_memory(client: httpx.Client):
    first, second = file(client, DEFAULT, "/a.md"), file(client, DEFAULT, "/A.md")
    body = {"path": "/a.md", "content": "again"}
    for answer in (
        client.post(f"{DEFAULT}/memories", json=body),
        client.post(f"{DEFAULT}/memories/{second['id']}", json={"path": "/a.md"}),
    ):
        assert refused(answer) == (409, "memory_path_conflict_error")
        assert answer.headers["x-should-retry"] == "false"
    client.delete(f"{DEFAULT}/memories/{first['id']}")
    assert told(client.post(f"{DEFAULT}/memories", json=body))["id"] != first["id"]


def test_a_precondition_holds_or_nothing_is_done(client: httpx.Client):
    made = file(client, DEFAULT, "/a.md", "one")
    at = f"{DEFAULT}/memories/{made['id']}"
    wrong = {"type": "content_sha256", "content_sha256": digest("two")}
    failed = (409, "memory_precondition_failed_error")
    assert refused(client.post(at, json={"content": "x", "precondition": wrong})) == failed
    assert refused(client.post(at, json={"path": "/b.md", "precondition": wrong})) == failed
    assert refused(client.delete(at, params={"expected_content_sha256": digest("two")})) == failed
    assert told(client.get(at))["content"] == "one"
    right = {"type": "content_sha256", "content_sha256": made["content_sha256"]}
    assert told(client.post(at, json={"content": "two", "precondition": right}))["content_sha256"] == digest("two")
    assert told(client.delete(at, params={"expected_content_sha256": digest("two")}))["type"] == "memory_deleted"


@pytest.mark.parametrize(
    "path",
    [
        "", "a.md", "/", "//", "/a/", "/a//b", "/./a", "/a/..", "/a\nb", "/a\u200eb", "/a\u2028b", "/a\u0308",
        "/" + "/".join("a" * 21), "/" + "a" * 1_024,
    ],
)  # fmt: skip
def test_a_path_that_breaks_a_rule_is_refused(client: httpx.Client, path: str):
    answer = client.post(f"{DEFAULT}/memories", json={"path": path, "content": "x"})
    assert refused(answer) == (400, "invalid_request_error")
    assert paths(client, DEFAULT) == []


@pytest.mark.parametrize(
    "path",
    [
        "/a", "/.hidden", "/..a", "/%41", "/a%2Fb", "/ß/ẞ/ı/İ", "/ﬁ/a b/ c /日本", LONG, "/" + "a" * 1_023,
        "/" + "/".join("A" * 20), "/a/" + "B" * 300 + "/c",
    ],
)  # fmt: skip
def test_every_path_comes_back_as_it_was_sent(client: httpx.Client, path: str):
    made = file(client, DEFAULT, path)
    assert made["path"] == path and paths(client, DEFAULT) == [path]
    again = client.post(f"{DEFAULT}/memories", json={"path": path, "content": "x"})
    assert refused(again) == (409, "memory_path_conflict_error")
    folder = "/"
    while folder != path:
        (item,) = pages(client, f"{DEFAULT}/memories", path_prefix=folder, depth=1)
        assert path.startswith(item["path"]) and paths(client, DEFAULT, path_prefix=folder) == [path]
        folder = item["path"]


@pytest.mark.parametrize("content", ["", " ", "\n", "\0", "\ufeff", "\r\na ", "a\u0308", "a" * 102_400, "ä" * 51_200])
def test_every_content_comes_back_as_it_was_sent(client: httpx.Client, content: str):
    made = file(client, DEFAULT, "/a.md", content)
    assert (made["content_sha256"], made["content_size_bytes"]) == (digest(content), len(content.encode()))
    assert told(client.get(f"{DEFAULT}/memories/{made['id']}"))["content"] == content
    too_long = client.post(f"{DEFAULT}/memories/{made['id']}", json={"content": "ä" * 51_200 + "a"})
    assert refused(too_long) == (400, "invalid_request_error")


def test_folders_are_listed_by_depth_and_prefix(client: httpx.Client):
    for path in ("/b.md", "/a/x.md", "/a/y/1.md", "/a/y/2.md", "/a-b/z.md", "/C/d.md"):
        file(client, DEFAULT, path)
    assert sorted(paths(client, DEFAULT, limit=1)) == sorted(paths(client, DEFAULT))
    top = pages(client, f"{DEFAULT}/memories", depth=1, limit=1)
    assert {(one["type"], one["path"]) for one in top} == {
        ("memory", "/b.md"), ("memory_prefix", "/a/"), ("memory_prefix", "/a-b/"), ("memory_prefix", "/C/"),
    }  # fmt: skip
    assert paths(client, DEFAULT, path_prefix="/a/") == ["/a/x.md", "/a/y/1.md", "/a/y/2.md"]
    assert paths(client, DEFAULT, path_prefix="/a/", depth=1) == ["/a/x.md", "/a/y/"]
    assert paths(client, DEFAULT, path_prefix="/C/") == ["/C/d.md"] and paths(client, DEFAULT, path_prefix="/c/") == []
    full = pages(client, f"{DEFAULT}/memories", view="full", limit=100)
    assert {one["content"] for one in full} == {"We deploy on Tuesdays"}
    for wrong in ({"depth": 2}, {"path_prefix": "/a"}, {"path_prefix": "a/"}, {"view": "all"}, {"limit": 0}):
        assert refused(client.get(f"{DEFAULT}/memories", params=wrong)) == (400, "invalid_request_error")


def test_a_full_page_has_twenty_items(client: httpx.Client):
    for number in range(21):
        file(client, DEFAULT, f"/{number}.md", str(number))
    page = told(client.get(f"{DEFAULT}/memories", params={"view": "full", "limit": 100}))
    assert len(page["data"]) == 20 and page["next_page"]
    assert len(pages(client, f"{DEFAULT}/memories", view="full", limit=100)) == 21


def test_memories_of_the_space_have_paths(client: httpx.Client):
    ids = [
        client.post(f"{API}/memories", json=draft(text, on_conflict="keep", **fields)).json()["id"]
        for text, fields in (
            ("one", {"category": "Team notes", "key": "Rota"}), ("two", {"category": "ops"}), ("three", {}),
        )
    ]  # fmt: skip
    plain = [one.replace("-", "") for one in ids]
    assert sorted(paths(client, DEFAULT)) == sorted([f"/{plain[2]}", f"/ops/{plain[1]}", "/team notes/Rota"])
    assert paths(client, DEFAULT, path_prefix="/team notes/", depth=1) == ["/team notes/Rota"]
    moved = told(client.post(f"{DEFAULT}/memories/mem_{plain[2]}", json={"path": "/notes/c.md"}))
    assert moved["path"] == "/notes/c.md"
    assert client.get(f"{API}/entries/notes/c.md").json()["content"] == "three"
    taken = client.post(f"{DEFAULT}/memories", json={"path": "/team notes/Rota", "content": "x"})
    assert refused(taken) == (409, "memory_path_conflict_error")


def test_each_change_is_a_version(client: httpx.Client, clock: Clock):
    made = file(client, DEFAULT, "/a.md", "one")
    clock.at += 1_000_000
    edited(client, DEFAULT, made, "two")
    other = file(client, DEFAULT, "/b.md", "other")
    clock.at += 1_000_000
    client.delete(f"{DEFAULT}/memories/{made['id']}")
    at = f"{DEFAULT}/memory_versions"
    found = pages(client, at, memory_id=made["id"], view="full", limit=1)
    assert [(one["operation"], one["path"], one["content"]) for one in found] == [
        ("deleted", "/a.md", None), ("modified", "/a.md", "two"), ("created", "/a.md", "one"),
    ]  # fmt: skip
    assert {(one["type"], one["memory_id"], one["redacted_at"]) for one in found} == {
        ("memory_version", made["id"], None)
    }
    assert [one["content_sha256"] for one in found] == [None, digest("two"), digest("one")]
    assert found[2]["id"] == made["memory_version_id"] and found[2]["created_by"]["type"] == "api_actor"
    for one in found:
        assert told(client.get(f"{at}/{one['id']}")) == one
        assert told(client.get(f"{at}/{one['id']}", params={"view": "basic"})) == {**one, "content": None}
    assert len(pages(client, at)) == 4 and [one["content"] for one in pages(client, at)] == [None] * 4
    assert [one["memory_id"] for one in pages(client, at, operation="created")] == [other["id"], made["id"]]
    assert len(pages(client, at, **{"created_at[gte]": found[0]["created_at"]})) == 1
    assert len(pages(client, at, **{"created_at[lte]": found[2]["created_at"]})) == 1
    actor = found[0]["created_by"]["api_key_id"]
    assert (len(pages(client, at, api_key_id=actor)), pages(client, at, api_key_id="none")) == (4, [])
    assert pages(client, at, session_id="sesn_1") == pages(client, at, service_account_id="svac_1") == []
    for wrong in ({"operation": "renamed"}, {"page": "eA=="}, {"limit": 0}):
        assert refused(client.get(at, params=wrong)) == (400, "invalid_request_error")
    for missing in (made["id"], "memver_x", f"memver_{'0' * 32}_1", f"{made['memory_version_id']}d", "memver_"):
        assert refused(client.get(f"{at}/{missing}")) == (404, "not_found_error")


def test_an_archived_store_can_be_read_and_deleted_and_takes_nothing(client: httpx.Client, clock: Clock):
    at = store(client)
    made, other = file(client, at, "/a.md"), file(client, at, "/b.md")
    edited(client, at, made, "changed")
    archived = told(client.post(f"{at}/archive"))
    clock.at += 10
    assert archived["archived_at"] and told(client.post(f"{at}/archive")) == archived == told(client.get(at))
    space = "/v1/spaces/notes"
    for answer in (
        client.post(f"{at}/memories", json={"path": "/c.md", "content": "x"}),
        client.post(f"{at}/memories/{made['id']}", json={"content": "x"}),
        client.post(f"{at}/memories/{made['id']}", json={"path": "/c.md"}),
        client.post(at, json={"name": "x"}),
    ):
        assert refused(answer) == (400, "invalid_request_error")
    for answer in (
        client.post(f"{space}/memories", json=draft("x")), client.post(f"{space}/undo", json={"last": 1}),
        client.put(f"{space}/entries/c/k", json={"content": "x"}),
        client.post(f"{space}/rollback", json={"to": "1"}),
        client.post(f"{space}/documents", json={"path": "a.md", "content": "x"}),
        client.post(f"{space}/conversations", json={"name": "c"}),
    ):  # fmt: skip
        assert answer.status_code in (404, 422), answer.text
    assert len(paths(client, at)) == 2 and len(pages(client, f"{at}/memory_versions")) == 3
    assert told(client.post(f"{at}/memory_versions/{made['memory_version_id']}/redact"))["redacted_at"]
    assert told(client.delete(f"{at}/memories/{other['id']}"))["type"] == "memory_deleted"
    assert client.post(f"{space}/fork", json={"name": "copied"}).status_code == 201
    assert file(client, f"{STORES}/memstore_copied", "/c.md")["path"] == "/c.md"


@pytest.mark.parametrize("name", ["default", "memstore_", "memstore_none", "memstore_a%2Fb", "x" * 300])
def test_what_is_no_store_is_not_found(client: httpx.Client, name: str):
    for path in ("", "/memories", "/memory_versions", f"/memories/mem_{'0' * 32}"):
        assert refused(client.get(f"{STORES}/{name}{path}")) == (404, "not_found_error")


def test_errors_of_all_kinds_have_the_form_of_the_sdk(client: httpx.Client):
    kind = {"Content-Type": "application/json"}
    assert refused(client.post(f"{DEFAULT}/memories", content=b"{", headers=kind)) == (400, "invalid_request_error")
    assert refused(client.patch(DEFAULT))[1] == "invalid_request_error"
    assert refused(client.get(f"{DEFAULT}/none")) == (404, "not_found_error")
    assert client.get("/v1/none").headers["content-type"] == "application/problem+json"
