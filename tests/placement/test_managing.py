"""Databases are listed, added, planned, drained and checked over HTTP; what is tried changes nothing."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.auth.access import OWNER
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.stores import FileStore

pytestmark = pytest.mark.file_only
MOVES = "/v1/placement/moves"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    settings = Settings(database_url=f"file:{tmp_path}/main.db")
    with (
        Engine(FileStore(tmp_path / "main.db").open(), WordEncoder(), Clock()) as engine,
        TestClient(create_app(settings, engine=engine, trusted=OWNER)) as opened,
    ):
        yield opened


@pytest.fixture
def two(client: httpx.Client, tmp_path: Path) -> httpx.Client:
    added = client.post("/v1/placement/databases", json={"name": "eu-1", "url": f"file:{tmp_path}/eu.db"})
    assert added.status_code == 201, added.text
    for space, text in (("acme", "We deploy on Fridays"), ("other", "Trains are green")):
        client.post("/v1/spaces", json={"name": space})
        assert client.post(f"/v1/spaces/{space}/memories", json={"content": text}).status_code == 201
    return client


def moved(client: httpx.Client, *units: str, target: str = "eu-1") -> None:
    done = client.post(MOVES, json={"units": units, "target": target, "wait": True})
    assert done.status_code == 202, done.text
    assert [one["step"] for one in done.json()["items"]] == ["ended"] * len(units), done.text


def test_one_database_holds_all(client: httpx.Client):
    found = client.get("/v1/placement").json()
    assert [(one["name"], one["state"], one["buckets"]) for one in found["databases"]] == [("main", "ready", 4096)]
    assert client.get("/v1/placement/plan").json()["items"] == []
    assert client.get("/v1/placement/check").json()["ok"] is True


def test_trying_to_add_move_or_drain_changes_nothing(two: httpx.Client, tmp_path: Path):
    before = two.get("/v1/placement").json()
    third = {"name": "eu-2", "url": f"file:{tmp_path}/third.db"}
    for path, body in (
        ("databases", third),
        ("moves", {"units": ["acme", "#17"], "target": "eu-1"}),
        ("promote", {"name": "acme", "target": "eu-1"}),
        ("drain", {"name": "eu-1"}),
    ):
        tried = two.post(f"/v1/placement/{path}?dry_run=true", json=body)
        assert (tried.status_code, tried.json()["dry_run"]) == (200, True), tried.text
    assert two.get("/v1/placement").json() == before


def test_what_cannot_be_is_refused_in_words(two: httpx.Client, tmp_path: Path):
    for path, body, status in (
        ("databases", {"name": "eu-1", "url": f"file:{tmp_path}/x.db"}, 409),
        ("databases", {"name": "eu-3", "url": f"file:{tmp_path}/eu.db"}, 409),
        ("databases", {"name": "eu-3", "url": "ftp://example.com"}, 422),
        ("moves", {"units": ["#4096"], "target": "eu-1"}, 422),
        ("moves", {"units": ["nobody"], "target": "eu-1"}, 404),
        ("moves", {"units": ["acme"], "target": "nowhere"}, 404),
        ("moves", {"units": [], "target": "eu-1"}, 422),
        ("drain", {"name": "main"}, 409),
    ):
        refused = two.post(f"/v1/placement/{path}", json=body)
        assert refused.status_code == status, (body, refused.text)
        assert refused.json()["detail"]


def test_lists_searches_and_the_audit_log_know_all_databases(two: httpx.Client):
    moved(two, "acme")
    assert {one["name"] for one in two.get("/v1/spaces").json()["items"]} == {"acme", "default", "other"}
    asked = {"query": "deploy trains", "spaces": [{"name": "acme"}, {"name": "other"}]}
    found = two.post("/v1/search", json=asked)
    assert {hit["memory"]["space"] for hit in found.json()["hits"]} == {"acme", "other"}
    assert "slowest;desc=" in found.headers["Server-Timing"]
    first = two.get("/v1/audit", params={"limit": 2}).json()
    rest = two.get("/v1/audit", params={"limit": 50, "cursor": first["next_cursor"]}).json()
    actions = [one["action"] for one in [*first["items"], *rest["items"]]]
    assert actions.count("space_created") == len([one for one in actions if one == "space_created"]) >= 2
    assert {"database_added", "move_asked"} <= set(actions)
    assert two.get("/v1/placement/check").json() == {
        "ok": True, "spaces": 3, "misplaced": [], "doubled": [], "down": []
    }  # fmt: skip


def test_a_fork_stays_with_its_space_and_others_are_not_compared_silently(two: httpx.Client):
    moved(two, "acme")
    assert two.post("/v1/spaces/acme/fork", json={"name": "acme-copy"}).status_code == 201
    assert two.get("/v1/spaces/acme/compare", params={"other": "acme-copy"}).status_code == 200
    refused = two.get("/v1/spaces/acme/compare", params={"other": "other"})
    assert refused.status_code == 409
    assert "muisti placement move" in refused.json()["detail"]
    assert two.get("/v1/placement/check").json()["ok"] is True


def test_a_drained_database_ends_empty(two: httpx.Client):
    moved(two, "acme")
    assert two.post("/v1/placement/drain", json={"name": "eu-1"}).json()["items"]
    refused = two.post(MOVES, json={"units": ["other"], "target": "eu-1"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
