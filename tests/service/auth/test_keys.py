"""Keys: shown once, never stronger than their parent, revoked for ever; and keys for a single category."""

import re
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.grants import Grant
from muisti.core.model.times import from_us
from muisti.core.operations.keys import digest
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.service.fakes import API, Breakable, draft
from tests.service.keyed import Caller, administrator, caller, with_mode

pytestmark = pytest.mark.one_store


@pytest.fixture
def admin(engine: Engine) -> Caller:
    return administrator(engine)


@pytest.fixture
def keyed(engine: Engine, admin: Caller) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def body(**fields: object) -> dict[str, object]:
    return {"name": "agent", "mode": "read-only", "spaces": ["default"], **fields}


def test_a_key_is_shown_once_and_kept_as_a_hash(keyed: httpx.Client, admin: Caller, database: Breakable):
    made = keyed.post("/v1/keys", json=body(), headers=admin.headers)
    assert (made.status_code, made.headers["location"]) == (201, f"/v1/keys/{made.json()['id']}")
    secret = made.json()["key"]
    assert re.fullmatch(r"mk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", secret)
    listed = keyed.get("/v1/keys", headers=admin.headers)
    assert secret not in listed.text and "key" not in listed.json()["items"][0]
    tables = database.read([statement("SELECT * FROM keys"), statement("SELECT * FROM audit")])
    assert secret not in repr(tables) and secret[16:] not in repr(tables)
    assert digest(secret) in [row[1] for row in tables[0]]


def statement(sql: str) -> Statement:
    return Statement(sql)


def test_what_a_key_makes_is_no_stronger(keyed: httpx.Client, engine: Engine):
    key = caller(engine, ("read", "append"), "acme.*")
    for stronger in (
        body(spaces=["acme.x"], mode="full"), body(spaces=["default"]), body(spaces=["*"]), body(spaces=["acme*"]),
        body(spaces=["acme.x"], mode="read-only", scopes=None) | {"mode": "no-delete"},
    ):  # fmt: skip
        answer = keyed.post("/v1/keys", json={k: v for k, v in stronger.items() if v is not None}, headers=key.headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), stronger
    weaker = keyed.post("/v1/keys", json=body(spaces=["acme.web*"]), headers=key.headers)
    assert (weaker.status_code, weaker.json()["parent_id"]) == (201, key.id)


def test_what_a_bound_key_makes_is_bound_too(keyed: httpx.Client, engine: Engine):
    key = with_mode(engine, "full", category="Notes")
    assert keyed.post("/v1/keys", json=body(), headers=key.headers).status_code == 403
    assert keyed.post("/v1/keys", json=body(category="other"), headers=key.headers).status_code == 403
    assert keyed.post("/v1/keys", json=body(category="notes"), headers=key.headers).status_code == 201


def test_a_key_lives_no_longer_than_the_one_that_made_it(keyed: httpx.Client, engine: Engine, clock: Clock):
    ends = from_us(engine.now()) + timedelta(hours=1)
    made, secret = engine.keys.create(
        Grant(frozenset(("read",)), ("default",)), engine.now(), name="parent", expires_at=ends
    )
    later = (ends + timedelta(days=9)).isoformat()
    parent = Caller(made.id, secret)
    child = keyed.post("/v1/keys", json=body(expires_at=later), headers=parent.headers).json()
    assert child["expires_at"] == keyed.get(f"/v1/keys/{made.id}", headers=parent.headers).json()["expires_at"]
    headers = {"Authorization": f"Bearer {child['key']}"}
    assert keyed.get(f"{API}/stats", headers=headers).status_code == 200
    clock.pass_days(1)
    assert keyed.get(f"{API}/stats", headers=headers).status_code == 401


def test_revoking_a_key_ends_those_made_with_it_at_once(keyed: httpx.Client, engine: Engine, admin: Caller):
    key = with_mode(engine, "full")
    child = keyed.post("/v1/keys", json=body(), headers=key.headers).json()
    other = with_mode(engine, "full")
    headers = {"Authorization": f"Bearer {child['key']}"}
    assert keyed.get(f"{API}/stats", headers=headers).status_code == 200
    assert keyed.delete(f"/v1/keys/{key.id}", headers=admin.headers).status_code == 204
    assert [keyed.get(f"{API}/stats", headers=one).status_code for one in (headers, key.headers, other.headers)] == [
        401, 401, 200,
    ]  # fmt: skip


def test_a_rotated_key_holds_on_for_a_while(keyed: httpx.Client, engine: Engine, admin: Caller, clock: Clock):
    key = with_mode(engine, "read-only")
    answer = keyed.post(f"/v1/keys/{key.id}/rotate", json={"overlap_seconds": 3600}, headers=admin.headers).json()
    new = {"Authorization": f"Bearer {answer['key']}"}
    assert [keyed.get(f"{API}/stats", headers=one).status_code for one in (key.headers, new)] == [200, 200]
    clock.pass_days(0.1)
    assert [keyed.get(f"{API}/stats", headers=one).status_code for one in (key.headers, new)] == [401, 200]
    again = keyed.post(f"/v1/keys/{key.id}/rotate", json={}, headers=admin.headers)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_a_thief_cannot_replace_the_key(keyed: httpx.Client, engine: Engine):
    key = with_mode(engine, "full")
    assert keyed.post(f"/v1/keys/{key.id}/rotate", json={}, headers=key.headers).status_code == 403


def test_a_key_sees_itself_and_what_it_made(keyed: httpx.Client, engine: Engine, admin: Caller):
    key, other = with_mode(engine, "full"), with_mode(engine, "full")
    child = keyed.post("/v1/keys", json=body(), headers=key.headers).json()
    seen = keyed.get("/v1/keys", headers=key.headers).json()["items"]
    assert {one["id"] for one in seen} == {key.id, child["id"]}
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotate")):
        answer = keyed.request(method, f"/v1/keys/{other.id}{path}", json={} if path else None, headers=key.headers)
        missing = keyed.request(method, f"/v1/keys/{'f' * 12}{path}", json={} if path else None, headers=key.headers)
        assert answer.status_code == missing.status_code == 404
        assert answer.text.replace(other.id, "f" * 12) == missing.text
    assert len(keyed.get("/v1/keys", headers=admin.headers).json()["items"]) == 4


@pytest.mark.parametrize("bad", [
    {"spaces": []}, {"spaces": ["A"]}, {"spaces": ["a*b"]}, {"mode": "some"}, {"name": ""}, {"name": "a\nb"},
    {"scopes": ["read"]}, {"expires_at": "2001-01-01T00:00:00Z"}, {"expires_at": "2030-01-01T00:00:00"},
    {"category": " "}, {"colour": 1},
])  # fmt: skip
def test_a_bad_key_is_refused_in_words(keyed: httpx.Client, admin: Caller, bad: dict[str, object]):
    answer = keyed.post("/v1/keys", json=body(**bad), headers=admin.headers)
    assert (answer.status_code, len(answer.json()["errors"])) == (422, 1), answer.text


@pytest.mark.parametrize("scopes", [["write"], ["append", "delete"], ["own"], []])
def test_scopes_that_make_no_sense_are_refused(keyed: httpx.Client, admin: Caller, scopes: list[str]):
    wanted = {"name": "x", "spaces": ["*"], "scopes": scopes}
    assert keyed.post("/v1/keys", json=wanted, headers=admin.headers).status_code == 422


def test_without_keys_nobody_makes_the_first_from_outside(client: httpx.Client):
    answer = client.post("/v1/keys", json=body())
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "muisti keys create --admin" in answer.json()["detail"]


def test_once_there_was_a_key_nobody_comes_in_without_one(engine: Engine):
    made = administrator(engine)
    engine.keys.revoke(made.id, engine.now())
    with TestClient(create_app(Settings(), engine=engine)) as client:
        assert client.get("/v1/spaces").status_code == 401


def test_the_key_of_the_settings_opens_everything(engine: Engine):
    with TestClient(create_app(Settings(admin_key="s" * 40), engine=engine)) as client:
        assert client.get("/v1/spaces").status_code == 401
        assert client.get("/v1/audit", headers={"Authorization": f"Bearer {'s' * 40}"}).status_code == 200
        assert client.get("/v1/audit", headers={"Authorization": f"Bearer {'s' * 39}"}).status_code == 401


def test_a_key_of_one_category_sees_nothing_else(keyed: httpx.Client, engine: Engine, admin: Caller):
    secret = "The launch code is 4711"
    hidden = keyed.post(
        f"{API}/memories", json=draft(secret, category="vault", key="k", tags=["hush"]), headers=admin.headers
    ).json()
    key = with_mode(engine, "full", category="Notes").headers
    own = keyed.post(f"{API}/memories", json=draft("We deploy on Fridays", key="k", tags=["open"]), headers=key).json()
    assert own["category"] == "Notes"
    for answer in (
        keyed.get(f"{API}/memories", headers=key),
        keyed.get(f"{API}/memories?category=vault", headers=key),
        keyed.post(f"{API}/search", json={"query": "launch code"}, headers=key),
        keyed.post(f"{API}/search", json={"query": "launch", "filter": {"not": {"category": "x"}}}, headers=key),
        keyed.get(f"{API}/categories", headers=key),
        keyed.get(f"{API}/tags", headers=key),
        keyed.get(f"{API}/authors", headers=key),
        keyed.post(f"{API}/memories", json=draft(secret), headers=key),  # nothing here is like it
        keyed.post(f"{API}/memories/batch", json={"memories": [draft("x")], "on_conflict": "reject"}, headers=key),
    ):
        assert answer.is_success, answer.text
        assert hidden["id"] not in answer.text and "vault" not in answer.text and "hush" not in answer.text
    for method, path in (
        ("GET", f"/memories/{hidden['id']}"), ("PATCH", f"/memories/{hidden['id']}"),
        ("DELETE", f"/memories/{hidden['id']}"), ("GET", f"/memories/{hidden['id']}/history"),
        ("GET", "/entries/vault/k"), ("DELETE", "/entries/vault/k"),
    ):  # fmt: skip
        answer = keyed.request(method, f"{API}{path}", json={"reason": "x"} if method == "PATCH" else None, headers=key)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (method, path)
    for method, path, sent in (
        ("PUT", "/entries/vault/k", {"content": "x"}),
        ("POST", "/memories", draft("x y z", category="vault")),
        ("PATCH", f"/memories/{own['id']}", {"category": "vault"}),
    ):
        assert keyed.request(method, f"{API}{path}", json=sent, headers=key).status_code == 403
    stats = keyed.get(f"{API}/stats", headers=key).json()
    assert (stats["memories"], stats["versions"], stats["changes"]) == (3, 3, 3)
    assert keyed.patch(f"{API}/memories/{own['id']}", json={"reason": "y"}, headers=key).json()["version"] == 2
    assert keyed.delete(f"{API}/memories/{own['id']}", headers={**key, "Idempotency-Key": "d"}).status_code == 204
    again = keyed.delete(f"{API}/memories/{own['id']}", headers={**key, "Idempotency-Key": "d"})
    assert (again.status_code, again.headers["idempotent-replayed"]) == (204, "true")


def test_a_key_that_only_adds_is_told_nothing_of_what_is_there(keyed: httpx.Client, engine: Engine, admin: Caller):
    there = keyed.post(f"{API}/memories", json=draft("The code is g711"), headers=admin.headers).json()
    key = caller(engine, ("append",), "default").headers
    for said in ("The code is g711", "the code is g712"):
        answer = keyed.post(f"{API}/memories", json=draft(said), headers=key)
        assert there["id"] not in answer.text and "g711" not in answer.text.replace(said, "")
    assert keyed.get(f"{API}/memories", headers=key).status_code == 403


def test_a_repeated_request_of_another_key_is_another_request(keyed: httpx.Client, engine: Engine):
    one, two = with_mode(engine, "full"), with_mode(engine, "full")
    sent = draft(on_conflict="keep")
    first = keyed.post(f"{API}/memories", json=sent, headers={**one.headers, "Idempotency-Key": "k"})
    second = keyed.post(f"{API}/memories", json=sent, headers={**two.headers, "Idempotency-Key": "k"})
    assert first.json()["id"] != second.json()["id"] and "idempotent-replayed" not in second.headers


def test_the_audit_log_tells_who_did_what_without_content(keyed: httpx.Client, engine: Engine, admin: Caller):
    made = keyed.post(f"{API}/memories", json=draft("secret words"), headers=admin.headers).json()
    keyed.delete(f"{API}/memories/{made['id']}", headers=admin.headers)
    keyed.post("/v1/spaces", json={"name": "x"}, headers=admin.headers)
    keyed.delete("/v1/spaces/x?confirm=x", headers=admin.headers)
    pages = keyed.get("/v1/audit?limit=3", headers=admin.headers).json()
    items = [(one["actor"], one["action"], one["space"], one["target"]) for one in pages["items"]]
    assert items == [
        (admin.id, "space_deleted", "x", None),
        (admin.id, "space_created", "x", None),
        (admin.id, "memory_deleted", "default", made["id"]),
    ]
    rest = keyed.get(f"/v1/audit?cursor={pages['next_cursor']}", headers=admin.headers).json()
    assert [one["action"] for one in rest["items"]] == ["key_created", "space_created"]
    assert "secret words" not in str(pages) + str(rest)
    assert keyed.get("/v1/audit", headers=caller(engine, ("admin",), "x").headers).status_code == 403


def test_more_than_the_rate_is_refused_and_says_when_to_go_on(engine: Engine):
    key = administrator(engine)
    with TestClient(create_app(Settings(rate_limit=0.5), engine=engine)) as client:
        first, second = (client.get("/v1/spaces", headers=key.headers) for _ in range(2))
    assert (first.status_code, first.headers["ratelimit-remaining"]) == (200, "0")
    assert (second.status_code, second.json()["code"]) == (429, "rate_limited")
    assert 1 <= int(second.headers["retry-after"]) <= 2


def test_the_last_use_is_noted(engine: Engine):
    key = administrator(engine)
    assert engine.keys.get(key.id).last_used_at is None
    with TestClient(create_app(Settings(), engine=engine)) as client:
        client.get("/v1/spaces", headers=key.headers)
    assert engine.keys.get(key.id).last_used_at is not None


def test_a_key_of_a_source_class_cannot_pass_for_the_user(engine: Engine):
    admin = administrator(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        wanted = {"name": "agent", "mode": "full", "spaces": ["*"], "source_class": "model"}
        made = client.post("/v1/keys", json=wanted, headers=admin.headers).json()
        assert made["source_class"] == "model"
        headers = {"Authorization": f"Bearer {made['key']}"}
        claim = {"content": "I am Ann", "source_class": "user"}
        refused = client.post(f"{API}/memories", json=claim, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        stored = client.post(f"{API}/memories", json={"content": "I am an agent"}, headers=headers).json()
        assert (stored["source_class"], stored["trust"]) == ("model", 60)
        stronger = {**wanted, "source_class": "user"}
        for body in (stronger, {**wanted, "source_class": None}):
            assert client.post("/v1/keys", json=body, headers=headers).status_code == 403
        rotated = client.post(f"/v1/keys/{made['id']}/rotate", json={}, headers=admin.headers).json()
        assert rotated["source_class"] == "model"
        bad = client.post("/v1/keys", json={**wanted, "source_class": "god"}, headers=admin.headers)
        assert bad.json()["errors"][0]["path"] == "$.source_class"
