"""Suggestions of preferences: what is found and stored, what is passed over, and who may ask."""

from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API
from tests.service.keyed import caller, with_mode

TURNS: list[dict[str, Any]] = [
    {"turn": 1, "user": "Hello! I prefer aisle seats. Can you book one?", "system": "Sure. I prefer windows myself."},
    {"turn": 2, "author": "user", "content": "Do you like tea? Which seats do I prefer?"},
    {"turn": 3, "author": "assistant", "content": "I love jazz, and I always avoid crowds."},
    {"turn": 4, "author": "Ann", "content": "I never eat meat.", "at": "2026-11-20T10:00:00Z"},
    {"turn": 5, "content": "I hate queues.", "author": "Assistant"},
    {"turn": 6, "author": "user", "content": "The meeting is on Monday. We met in Turku."},
    {"turn": 7, "author": "user", "content": "Look:\n```\nI prefer tabs.\n```"},
]


def told(client: httpx.Client, turns: list[dict[str, Any]], **more: Any) -> None:
    answer = client.post(f"{API}/conversations/c/exchanges", json={"items": turns, **more})
    assert answer.is_success, answer.text


def suggest(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/conversations/c/suggestions", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def memories(client: httpx.Client, **filter: Any) -> list[dict[str, Any]]:
    body = {"filter": {"type": "preference", "status": ["active", "candidate"], **filter}}
    return client.post(f"{API}/memories/query", json=body).json()["items"]


def test_preferences_of_users_become_candidates_derived_from_their_turns(client: httpx.Client):
    told(client, TURNS)
    found = suggest(client)
    assert [(one["turn"], one["status"], one["memory"]["content"]) for one in found["items"]] == [
        (1, "created", "I prefer aisle seats."),
        (4, "created", "I never eat meat."),
    ]
    assert (found["created"], found["duplicates"], found["failed"], found["next_turn"]) == (2, 0, 0, None)
    turns = {one["turn"]: one["id"] for one in client.get(f"{API}/conversations/c/exchanges").json()["items"]}
    for one in found["items"]:
        stored = client.get(f"{API}/memories/{one['memory']['id']}").json()
        assert (stored["type"], stored["status"], stored["kind"]) == ("preference", "candidate", "memory")
        assert stored["derived_from"] == [turns[one["turn"]]]
    assert [one["memory"]["author"] for one in found["items"]] == ["user", "Ann"]
    assert found["items"][1]["memory"]["event_at"] == "2026-11-20T10:00:00Z"


def test_what_is_known_is_counted_and_not_stored_again(client: httpx.Client):
    told(client, TURNS)
    first = suggest(client)
    again = suggest(client)
    assert (again["created"], again["duplicates"]) == (0, first["created"])
    assert {one["status"] for one in again["items"]} == {"duplicate"}
    assert again["items"][0]["problem"]["conflicts"][0]["id"] == first["items"][0]["memory"]["id"]
    told(client, [{"turn": 8, "author": "user", "content": "I prefer aisle seats."}])
    assert suggest(client, **{"from": 8})["duplicates"] == 1


def test_a_dry_run_shows_them_and_stores_nothing(client: httpx.Client):
    told(client, [*TURNS, {"turn": 8, "author": "user", "content": "I prefer aisle seats."}])
    seq = client.get(API).json()["seq"]
    shown = suggest(client, dry_run="true")
    assert [one["status"] for one in shown["answer"]["items"]] == ["created", "created", "duplicate"]
    assert client.get(API).json()["seq"] == seq
    assert suggest(client)["created"] == 2
    assert suggest(client, dry_run="true")["answer"]["created"] == 0


def test_nothing_is_suggested_unasked_and_a_profile_has_active_ones_alone(client: httpx.Client):
    told(client, TURNS)
    asked = {"query": "seats", "min_evidence": "none", "sections": {"profile": {}}}
    assert client.post(f"{API}/context", json=asked).json()["citations"] == []
    one = suggest(client)["items"][0]["memory"]
    both = {**asked, "filter": {"status": ["active", "candidate"]}}
    assert client.post(f"{API}/context", json=asked).json()["citations"] == []
    assert client.post(f"{API}/context", json=both).json()["citations"] == []
    assert client.patch(f"{API}/memories/{one['id']}", json={"status": "active"}).is_success
    shown = client.post(f"{API}/context", json=asked).json()
    assert [cited["id"] for cited in shown["citations"]] == [one["id"]]


def test_a_long_conversation_is_read_in_parts(client: httpx.Client):
    told(client, [{"turn": n, "author": "user", "content": f"I prefer the number {n * 7}."} for n in range(60)])
    first = suggest(client, dry_run="true")["answer"]
    assert (len(first["items"]), first["next_turn"]) == (50, 50)
    rest = suggest(client, dry_run="true", **{"from": 50})["answer"]
    assert (len(rest["items"]), rest["next_turn"]) == (10, None)


def test_the_policy_of_the_space_holds_for_each(client: httpx.Client):
    client.patch(f"{API}/policy", json={"personal_data": "allow"})
    told(client, [{"turn": 1, "author": "user", "content": "I prefer mail to ann.lee@firma.fi."}, *TURNS[3:4]])
    client.patch(f"{API}/policy", json={"personal_data": "refuse"})
    found = suggest(client)
    assert [one["status"] for one in found["items"]] == ["failed", "created"]
    assert found["items"][0]["problem"]["code"] == "sensitive_content" and found["failed"] == 1


def test_no_more_is_stored_than_the_quota_allows(client: httpx.Client):
    told(client, TURNS)
    held = client.get(f"{API}/stats").json()["quota"]["memories"]["used"]  # with the conversation and its session
    client.patch(f"{API}/quota", json={"memories": held + 1})
    found = suggest(client)
    assert (found["created"], found["failed"]) == (1, 1)
    assert found["items"][1]["problem"]["code"] == "quota_exceeded"


def test_a_conversation_that_is_not_there_suggests_nothing(client: httpx.Client):
    assert client.post(f"{API}/conversations/nowhere/suggestions").status_code == 404


@pytest.mark.parametrize(
    ("scopes", "status"), [(("read",), 403), (("append",), 403), (("read", "append"), 200), (("read", "write"), 403)]
)
def test_a_key_must_append_and_read(engine: Engine, scopes: Any, status: int):
    full = with_mode(engine, "full", "*")
    who = caller(engine, scopes, "*")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        body = {"items": TURNS}
        assert client.post(f"{API}/conversations/c/exchanges", json=body, headers=full.headers).is_success
        assert client.post(f"{API}/conversations/c/suggestions", headers=who.headers).status_code == status


def test_a_key_of_one_category_finds_and_stores_in_it(engine: Engine):
    full, notes = with_mode(engine, "full", "*"), with_mode(engine, "full", "*", category="notes")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        path, body = f"{API}/conversations/c", {"items": TURNS}
        assert client.post(f"{path}/exchanges", json=body, headers=full.headers).is_success
        assert client.post(f"{path}/suggestions", headers=notes.headers).status_code == 404
        assert client.post(f"{path}/exchanges", json=body, headers=notes.headers).is_success
        found = client.post(f"{path}/suggestions", headers=notes.headers).json()
        assert {one["memory"]["category"] for one in found["items"]} == {"notes"}
