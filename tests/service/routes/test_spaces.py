"""Spaces over HTTP."""

from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from tests.service.fakes import draft
from tests.service.keyed import administrator, caller

pytestmark = pytest.mark.one_store


def uses(client: httpx.Client, **headers: str) -> dict[str, Any]:
    return {one["name"]: one["use"] for one in client.get("/v1/spaces", headers=headers).json()["items"]}


def test_the_list_has_the_size_of_each_space(client: httpx.Client, engine: Engine):
    engine.spaces.create("a")
    assert uses(client)["a"] == {"memories": 0, "bytes": 0, "last_change_at": None}
    one = client.post("/v1/spaces/a/memories", json={"content": "tea"}).json()
    client.post("/v1/spaces/a/memories", json={"content": "a red house"})
    stats = client.get("/v1/spaces/a/stats").json()
    held = uses(client)["a"]
    assert (held["memories"], held["bytes"]) == (2, stats["quota"]["bytes"]["used"])
    assert held["last_change_at"] == stats["last_change_at"]
    client.delete(f"/v1/spaces/a/memories/{one['id']}")
    assert uses(client)["a"]["memories"] == 1
    admin, part = administrator(engine), caller(engine, ("read",), "a", category="red")
    assert uses(client, **part.headers) == {"a": None}
    assert uses(client, **admin.headers)["a"]["memories"] == 1


def test_a_space_is_made_listed_read_and_erased(client: httpx.Client):
    made = client.post("/v1/spaces", json={"name": "acme.web"})
    assert (made.status_code, made.headers["location"]) == (201, "/v1/spaces/acme.web")
    assert client.get("/v1/spaces/acme.web").json() == made.json()
    assert [space["name"] for space in client.get("/v1/spaces").json()["items"]] == ["acme.web", "default"]
    assert client.delete("/v1/spaces/acme.web?confirm=acme.web").status_code == 200
    assert client.get("/v1/spaces/acme.web").json()["code"] == "not_found"


def test_a_space_has_the_settings_that_it_was_made_with(client: httpx.Client):
    settings = {"lexical_weights": {"content": 1.0}, "embedded_fields": ["content"]}
    assert client.post("/v1/spaces", json={"name": "plain", "settings": settings}).json()["settings"] == settings


def test_a_description_stays_and_goes_with_forks_and_exports(client: httpx.Client):
    body = {"name": "shop", "description": "What customers want"}
    assert client.post("/v1/spaces", json=body).json()["description"] == body["description"]
    assert client.post("/v1/spaces/shop/fork", json={"name": "try"}).status_code == 201
    client.post("/v1/spaces/shop/memories", json={"content": "They want tea"})
    exported = client.get("/v1/spaces/shop/export").content
    client.post("/v1/spaces", json={"name": "again"})
    typed = {"Content-Type": "application/x-ndjson"}
    assert client.post("/v1/spaces/again/import", content=exported, headers=typed).status_code == 200
    told = {one["name"]: one["description"] for one in client.get("/v1/spaces").json()["items"]}
    assert told == {"default": None, **dict.fromkeys(("again", "shop", "try"), body["description"])}
    refused = client.post("/v1/spaces", json={"name": "x", "description": "y" * 2_001})
    assert refused.json()["errors"][0]["path"] == "$.description"


def test_a_name_is_given_once(client: httpx.Client):
    response = client.post("/v1/spaces", json={"name": "default"})
    assert (response.status_code, response.json()["code"]) == (409, "already_exists")


@pytest.mark.parametrize("query", ["", "?confirm=", "?confirm=other", "?confirm=x&confirm=x", "?confirm=x&force=1"])
def test_erasing_a_space_needs_its_name_once_more(client: httpx.Client, query: str):
    client.post("/v1/spaces", json={"name": "x"})
    assert client.delete(f"/v1/spaces/x{query}").status_code == 422
    assert client.get("/v1/spaces/x").status_code == 200


def test_the_default_space_stays(client: httpx.Client):
    response = client.delete("/v1/spaces/default?confirm=default")
    assert (response.status_code, response.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("name", ["Upper", "", "a/b", "-x", "x" * 64])
def test_a_bad_name_is_named(client: httpx.Client, name: str):
    response = client.post("/v1/spaces", json={"name": name})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, "$.name")


def test_two_spaces_do_not_see_each_other(client: httpx.Client):
    client.post("/v1/spaces", json={"name": "other"})
    memory = client.post("/v1/spaces/other/memories", json=draft("a secret of the other")).json()
    assert client.get(f"/v1/spaces/default/memories/{memory['id']}").status_code == 404
    assert client.post("/v1/spaces/default/search", json={"query": "secret"}).json()["hits"] == []


def test_a_space_is_warmed_once_and_only_for_who_may_read_it(engine: Engine, keyed: httpx.Client):
    engine.spaces.create("a")
    engine.owner.write.add("a", [Draft(content="tea")], on_conflict="keep")
    engine._indexes.drop("a")
    part, other = (caller(engine, ("read",), "a", category="red"), caller(engine, ("read",), "b"))
    first = keyed.post("/v1/spaces/a/warm", headers=part.headers)
    assert (first.json()["loaded"], first.json()["model"]) == (True, engine.model) and first.headers["muisti-seq"]
    assert engine.indexes_loaded == 1
    again = keyed.post("/v1/spaces/a/warm", headers=part.headers).json()
    assert (again["loaded"], again["fits"], again["seq"]) == (False, True, first.json()["seq"])
    refused = [keyed.post("/v1/spaces/a/warm", headers=headers).status_code for headers in (other.headers, {})]
    assert refused == [404, 401]
    assert keyed.post("/v1/spaces/none/warm", headers=administrator(engine).headers).status_code == 404
