"""Memory stores keep the rules that all else of Muisti keeps: keys, policies, quotas, history, erasure."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.service.fakes import API, draft
from tests.service.keyed import MODES, caller, with_mode
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
from tests.service.pages.forms import ADMIN

LINES = {"Content-Type": "application/x-ndjson"}
SECRET = "github_pat_11AAAAAAA0abcdefghijkl"
ROUTES = {
    "create_store": ("POST", "", {"name": "acme own"}, "admin"),
    "list_stores": ("GET", "", None, None),
    "get_store": ("GET", "/{store}", None, "read"),
    "update_store": ("POST", "/{store}", {"name": "n"}, "admin"),
    "archive": ("POST", "/{store}/archive", None, "admin"),
    "create": ("POST", "/{store}/memories", {"path": "/n.md", "content": "new"}, "append"),
    "list": ("GET", "/{store}/memories", None, "read"),
    "get": ("GET", "/{store}/memories/{memory}", None, "read"),
    "update": ("POST", "/{store}/memories/{memory}", {"content": "new"}, "write"),
    "versions": ("GET", "/{store}/memory_versions", None, "read"),
    "version": ("GET", "/{store}/memory_versions/{version}", None, "read"),
    "redact": ("POST", "/{store}/memory_versions/{version}/redact", None, "admin"),
    "delete": ("DELETE", "/{store}/memories/{memory}", None, "delete"),
    "delete_store": ("DELETE", "/{store}", None, "admin"),
}  # fmt: skip


@pytest.fixture
def served(engine: Engine) -> Iterator[httpx.Client]:
    """A client of a server with keys that sends none."""
    for space in ("acme.own", "other"):
        engine.spaces.create(space)
    with TestClient(create_app(Settings(admin_key=ADMIN), engine=engine)) as opened:
        yield opened


@pytest.fixture
def admin(served: httpx.Client) -> httpx.Client:
    headers = {"Authorization": f"Bearer {ADMIN}"}
    return httpx.Client(transport=served._transport, base_url=served.base_url, headers=headers)


def ask(client: httpx.Client, route: str, space: str, headers: dict[str, str], made: dict[str, Any]) -> httpx.Response:
    method, path, body, _ = ROUTES[route]
    at = path.format(store=f"memstore_{space}", memory=made["id"], version=made["memory_version_id"])
    return client.request(method, f"{STORES}{at}", json=body, headers=headers)


@pytest.mark.one_store
@pytest.mark.parametrize("mode", dict(MODES.items()))
@pytest.mark.parametrize("route", ROUTES)
def test_a_key_may_do_what_its_scopes_say_in_its_own_space(
    served: httpx.Client, admin: httpx.Client, engine: Engine, mode: str, route: str
):
    spaces = ("acme.own", "other")
    made = {space: file(admin, f"{STORES}/memstore_{space}", "/a.md", "a secret plan") for space in spaces}
    for space, one in made.items():
        edited(admin, f"{STORES}/memstore_{space}", one, "the plan of Ann")
    key = with_mode(engine, mode, "acme.*")
    scopes, needed = dict(MODES.items())[mode], ROUTES[route][3]
    for headers in (key.headers, {"X-Api-Key": key.secret}):
        if route not in ("create_store", "list_stores"):
            foreign, missing = (ask(served, route, space, headers, made["other"]) for space in ("other", "gone"))
            assert refused(foreign) == refused(missing) == (404, "not_found_error")
            assert foreign.text.replace("other", "gone") == missing.text
    answer = ask(served, route, "acme.own", headers, made["acme.own"])
    reads = route in ("update", "delete", "create") and "read" not in scopes  # a path would tell what is there
    if (needed is None or needed in scopes) and not reads:
        assert answer.status_code == 200, answer.text
        assert "other" not in answer.text and "default" not in answer.text
    else:
        assert refused(answer) == (403, "permission_error")


@pytest.mark.one_store
def test_without_a_valid_key_nobody_learns_anything(served: httpx.Client, admin: httpx.Client):
    made = file(admin, DEFAULT, "/a.md")
    for headers in ({}, {"X-Api-Key": "mk_x"}, {"Authorization": "Bearer mk_x"}, {"Authorization": "Basic eA=="}):
        for route in ROUTES:
            answers = [ask(served, route, space, headers, made) for space in ("default", "gone")]
            assert [refused(answer) for answer in answers] == [(401, "authentication_error")] * 2
            assert answers[0].text == answers[1].text
    assert served.get("/v1/spaces", headers={"X-Api-Key": "mk_x"}).json()["code"] == "unauthorized"


@pytest.mark.one_store
def test_a_server_without_keys_takes_any(client: httpx.Client):
    for headers in ({}, {"X-Api-Key": "none"}, {"Authorization": "Bearer none"}):
        assert told(client.get(STORES, headers=headers))["data"]


def test_a_key_for_one_category_has_that_folder(served: httpx.Client, admin: httpx.Client, engine: Engine):
    file(admin, DEFAULT, "/ann/a.md")
    made = file(admin, DEFAULT, "/bob/b.md")
    key = caller(engine, ("read", "append", "write", "delete"), "*", category="Ann").headers
    for listed in ("memories", "memory_versions"):
        found = told(served.get(f"{DEFAULT}/{listed}", headers=key))["data"]
        assert [one["path"] for one in found] == ["/ann/a.md"]
    assert refused(served.get(f"{DEFAULT}/memories/{made['id']}", headers=key)) == (404, "not_found_error")
    version = f"{DEFAULT}/memory_versions/{made['memory_version_id']}"
    assert refused(served.get(version, headers=key)) == (404, "not_found_error")
    for path in ("/bob/c.md", "/c.md", "/ann/deep/c.md"):
        answer = served.post(f"{DEFAULT}/memories", json={"path": path, "content": "x"}, headers=key)
        assert refused(answer) == (403, "permission_error")
    added = served.post(f"{DEFAULT}/memories", json={"path": "/ann/c.md", "content": "x"}, headers=key)
    assert told(added)["path"] == "/ann/c.md"


def test_two_stores_do_not_mix_and_search_finds_each(client: httpx.Client):
    at = {name: store(client, name) for name in ("Ann", "Bob")}
    for name, one in at.items():
        file(client, one, "/plans/boat.md", f"{name} sails the boat to Turku")
    for name, one in at.items():
        assert paths(client, one) == ["/plans/boat.md"]
        hits = client.post(f"/v1/spaces/{name.lower()}/search", json={"query": "who sails the boat"}).json()["hits"]
        assert [hit["memory"]["content"] for hit in hits] == [f"{name} sails the boat to Turku"]
        assert "boat" in client.post(f"/v1/spaces/{name.lower()}/context", json={"query": "boat"}).text
    made = pages(client, f"{at['Ann']}/memories")[0]["id"]
    assert refused(client.get(f"{at['Bob']}/memories/{made}")) == (404, "not_found_error")


def test_policy_and_quota_hold(client: httpx.Client, engine: Engine):
    answer = client.post(f"{DEFAULT}/memories", json={"path": "/a.md", "content": f"The token is {SECRET}"})
    assert refused(answer) == (400, "invalid_request_error") and SECRET not in answer.text
    named = client.post(STORES, json={"name": f"token {SECRET}"})
    assert refused(named) == (400, "invalid_request_error")
    engine.spaces.set_policy("default", {"secrets": "redact"})
    made = file(client, DEFAULT, "/a.md", f"The token is {SECRET}")
    kept = told(client.get(f"{DEFAULT}/memories/{made['id']}"))
    assert SECRET not in kept["content"] and made["content_sha256"] == digest(kept["content"])
    engine.spaces.set_quota("default", {"memories": 1})
    assert refused(client.post(f"{DEFAULT}/memories", json={"path": "/b.md", "content": "x"})) == (403, "billing_error")
    assert client.delete(f"{DEFAULT}/memories/{made['id']}").status_code == 200
    assert file(client, DEFAULT, "/b.md", "x")["path"] == "/b.md"


def test_undo_takes_back_what_a_store_was_told(client: httpx.Client):
    made = file(client, DEFAULT, "/a.md", "one")
    at = f"{DEFAULT}/memories/{made['id']}"
    told(client.post(at, json={"path": "/b.md", "content": "two"}))
    client.delete(at)
    for path, content in (("/b.md", "two"), ("/a.md", "one")):
        assert client.post(f"{API}/undo", json={}).status_code == 200
        now = told(client.get(at))
        assert (now["path"], now["content"]) == (path, content)
    assert client.post(f"{API}/undo", json={}).status_code == 200
    assert paths(client, DEFAULT) == []
    operations = [one["operation"] for one in pages(client, f"{DEFAULT}/memory_versions")]
    assert operations == ["deleted", "modified", "modified", "deleted", "modified", "created"]


def test_the_past_a_fork_and_an_import_have_the_same_files(client: httpx.Client):
    made = file(client, DEFAULT, "/Notes/a.md", "one")
    then = client.get(f"{API}/memories").headers["Muisti-Seq"]
    edited(client, DEFAULT, made, "two")
    past = client.get(f"{API}/memories", params={"as_of": then}).json()["items"]
    assert [one["content"] for one in past] == ["one"]
    assert client.post(f"{API}/fork", json={"name": "forked"}).status_code == 201
    exported = client.get(f"{API}/export").content
    client.post("/v1/spaces", json={"name": "imported"})
    assert client.post("/v1/spaces/imported/import", content=exported, headers=LINES).is_success
    for name, versions in (("forked", ["two"]), ("imported", ["two", "one"])):
        at = f"{STORES}/memstore_{name}"
        found = pages(client, f"{at}/memories", view="full")
        assert [(one["path"], one["content"]) for one in found] == [("/Notes/a.md", "two")]
        listed = pages(client, f"{at}/memory_versions", view="full")
        assert [one["content"] for one in listed] == versions


def test_a_version_whose_change_is_forgotten_is_there_while_its_text_is(
    client: httpx.Client, engine: Engine, clock: Clock
):
    made, old = file(client, DEFAULT, "/a.md", "one"), file(client, DEFAULT, "/b.md", "old")
    edited(client, DEFAULT, old, "new")
    engine.spaces.set_policy("default", {"history_days": 1})
    clock.pass_days(3)
    file(client, DEFAULT, "/c.md")
    while engine.upkeep.forget_history("default", engine.now()):
        pass
    at = f"{DEFAULT}/memory_versions"
    assert [one["path"] for one in pages(client, at)] == ["/c.md", "/b.md", "/a.md"]
    version = told(client.get(f"{at}/{made['memory_version_id']}"))
    assert (version["content"], version["operation"], version["redacted_at"]) == ("one", "created", None)


def test_a_purged_memory_has_no_versions(client: httpx.Client):
    made = file(client, DEFAULT, "/a.md", "one")
    edited(client, DEFAULT, made, "two")
    file(client, DEFAULT, "/b.md", "other")
    native = made["id"].removeprefix("mem_")
    native = "-".join((native[:8], native[8:12], native[12:16], native[16:20], native[20:]))
    assert client.delete(f"{API}/memories/{native}", params={"purge": "true"}).status_code == 200
    assert paths(client, DEFAULT) == ["/b.md"]
    assert [one["path"] for one in pages(client, f"{DEFAULT}/memory_versions")] == ["/b.md"]
    version = f"{DEFAULT}/memory_versions/{made['memory_version_id']}"
    assert refused(client.get(version)) == (404, "not_found_error")


LOST = "Zanzibarquaggafish is the word of the vault"


def test_no_path_finds_the_text_of_a_redacted_version(client: httpx.Client):
    made = file(client, DEFAULT, "/a.md", LOST)
    native = client.get(f"{API}/memories").json()["items"][0]["id"]
    derived = client.post(f"{API}/memories", json=draft(f"They say: {LOST}", derived_from=[native], on_conflict="keep"))
    then = derived.headers["Muisti-Seq"]
    edited(client, DEFAULT, made, "The word has changed")
    later = client.post(f"{API}/memories", json=draft("From the new text", derived_from=[native], on_conflict="keep"))
    version = f"{DEFAULT}/memory_versions/{made['memory_version_id']}"
    shown = told(client.post(f"{version}/redact"))
    nothing = ("content", "content_sha256", "content_size_bytes", "path")
    assert [shown[name] for name in nothing] == [None] * 4
    assert shown["redacted_at"] and shown["redacted_by"] and shown["created_by"] and shown["operation"] == "created"
    assert told(client.get(version)) == shown == told(client.post(f"{version}/redact"))
    listed = pages(client, f"{DEFAULT}/memory_versions", memory_id=made["id"], view="full")
    assert [one["content"] for one in listed] == ["The word has changed", None]
    for answer in (
        client.get(f"{API}/memories"), client.get(f"{API}/memories", params={"as_of": then}),
        client.post(f"{API}/search", json={"query": LOST}),
        client.post(f"{API}/search", json={"query": LOST, "as_of": then}),
        client.get(f"{API}/memories/{native}/history"), client.get(f"{API}/changes", params={"show": "both"}),
        client.get(f"{API}/export"), client.get(f"{DEFAULT}/memories?view=full"),
        client.get(f"{API}/memories/{native}", params={"as_of": then}),
    ):  # fmt: skip
        assert "Zanzibar" not in answer.text and (answer.is_success or answer.status_code == 404), answer.text
    assert client.get(f"{API}/memories/{derived.json()['id']}").status_code == 404
    assert client.get(f"{API}/memories/{later.json()['id']}").status_code == 200
    assert told(client.get(f"{DEFAULT}/memories/{made['id']}"))["content"] == "The word has changed"
    exported = client.get(f"{API}/export").content
    client.post("/v1/spaces", json={"name": "imported"})
    assert client.post("/v1/spaces/imported/import", content=exported, headers=LINES).is_success
    brought = pages(client, f"{STORES}/memstore_imported/memory_versions", view="full")
    assert [one["content"] for one in brought if one["path"] in (None, "/a.md")] == ["The word has changed", None]
    undone = client.post(f"{API}/undo", json={"last": 2})
    assert undone.status_code == 409 and undone.json()["code"] == "not_undone"
    assert client.post(f"{API}/memories/{native}/restore", json={"version": 1}).status_code == 404
    assert client.post(f"{API}/rollback", json={"to": then}).is_success
    assert "Zanzibar" not in client.get(f"{API}/memories").text


def test_a_hit_that_was_redacted_is_not_new_to_its_receipt(client: httpx.Client):
    made = file(client, DEFAULT, "/a.md", LOST)
    asked = {"query": LOST.split()[0], "mode": "keyword", "receipt": True}
    receipt = client.post(f"{API}/search", json=asked).json()["receipt"]
    edited(client, DEFAULT, made, "Another text")
    assert told(client.post(f"{DEFAULT}/memory_versions/{made['memory_version_id']}/redact"))["redacted_at"]
    (moved,) = client.post(f"/v1/receipts/{receipt}/replay").json()["differences"]
    assert (moved["before"], moved["after"], moved["why"]) == (1, None, "changed")


def test_what_is_current_or_seen_in_part_is_not_redacted(served: httpx.Client, admin: httpx.Client, engine: Engine):
    made = file(admin, DEFAULT, "/ann/a.md", LOST)
    version = f"{DEFAULT}/memory_versions/{made['memory_version_id']}"
    assert refused(admin.post(f"{version}/redact")) == (409, "conflict_error")
    assert told(admin.get(version))["content"] == LOST
    admin.delete(f"{DEFAULT}/memories/{made['id']}")
    blind = caller(engine, ("admin",), "*").headers
    assert refused(served.post(f"{version}/redact", headers=blind)) == (403, "permission_error")
    assert told(admin.post(f"{version}/redact"))["content"] is None
    gone = [one["path"] for one in pages(admin, f"{DEFAULT}/memory_versions")]
    assert gone == [None, None], "its deletion names no path either"
    part = caller(engine, ("read",), "*", category="ann").headers
    assert told(served.get(f"{DEFAULT}/memory_versions", headers=part))["data"] == []
