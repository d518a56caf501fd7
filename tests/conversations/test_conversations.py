"""Conversations over HTTP: streams, lists, changes, rights, and the guide's commands."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests import curl
from tests.service.fakes import API
from tests.service.keyed import administrator, with_mode

GUIDE = (Path(__file__).parents[2] / "docs" / "concepts" / "conversations.md").read_text("utf-8")
LINES = {"Content-Type": "application/x-ndjson"}


def stream(client: httpx.Client, *items: dict[str, Any], name: str = "c", **more: Any) -> httpx.Response:
    return client.post(f"{API}/conversations/{name}/exchanges", json={"items": list(items), **more})


def turn(number: int, text: str = "Hello", **more: Any) -> dict[str, Any]:
    return {"turn": number, "author": "Ann", "content": text, **more}


def test_the_commands_of_the_guide_answer_as_it_says(client: httpx.Client):
    blocks = "".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL))
    answers = [curl.read(line, Path()).send(client) for line in curl.lines(blocks)]
    assert len(answers) == 13 and all(one.is_success for one in answers), [one.text for one in answers]
    streamed, listed, talk, turns, found, *_, deleted, undone = (one.json() for one in answers)
    assert [one["turn"] for one in streamed["items"]] == [1, 2] and streamed["next_turn"] == 3
    assert listed["total"] == 1 and talk["name"] == "c-42" and [one["turn"] for one in turns["items"]] == [2]
    assert {hit["memory"]["conversation"] for hit in found["hits"]} <= {"c-42"}
    assert (
        deleted["total"] == len(undone["items"]) == 7
    )  # with the given topic, which took its turns, and both summaries
    assert client.get(f"{API}/conversations/c-42").json()["title"] == "The move to Turku"


def test_lines_and_json_stream_the_same(client: httpx.Client):
    items = [turn(1), {"turn": 2, "user": "Hi", "system": "Yes?"}, {"turn": 3, "system": "Anything else?"}]
    assert stream(client, *items, session="s").json()["created"] == 3
    lines = "\n\n".join(map(json.dumps, items)) + "\n"
    again = client.post(f"{API}/conversations/c/exchanges?session=s", content=lines, headers=LINES).json()
    assert [one["replayed"] for one in again["items"]] == [True] * 3 and again["created"] == 0
    stored = client.get(f"{API}/conversations/c/exchanges").json()
    assert [(one["author"], one["content"]) for one in stored["items"]] == [
        ("Ann", "Hello"), ("user", "Hi\n\nYes?"), ("assistant", "Anything else?"),
    ]  # fmt: skip


@pytest.mark.parametrize(("item", "path"), [
    ({"turn": 1}, "$.items[0]"), ({"turn": 1, "content": "x", "user": "y"}, "$.items[0].content"),
    ({"turn": -1, "content": "x"}, "$.items[0].turn"), ({"turn": "1", "content": "x"}, "$.items[0].turn"),
    ({"turn": 1, "content": " "}, "$.items[0].content"), ({"turn": 1, "content": "x", "mood": 1}, "$.items[0].mood"),
    ({"turn": 1, "content": "x", "at": "2026"}, "$.items[0].at"),
])  # fmt: skip
def test_a_bad_turn_is_named_and_nothing_is_stored(client: httpx.Client, item: dict[str, Any], path: str):
    refused = stream(client, item)
    assert refused.status_code == 422 and [one["path"] for one in refused.json()["errors"]] == [path]
    lines = client.post(f"{API}/conversations/c/exchanges", content=json.dumps(item), headers=LINES)
    assert lines.json()["errors"] == refused.json()["errors"]
    assert client.get(f"{API}/conversations/c").status_code == 404


def test_too_many_turns_and_two_sessions_are_refused(client: httpx.Client):
    assert stream(client, *(turn(number) for number in range(1_001))).status_code == 422
    two = client.post(f"{API}/conversations/c/exchanges?session=a", json={"items": [turn(1)], "session": "b"})
    assert two.json()["errors"][0]["path"] == "$.session"
    assert stream(client).status_code == 422


def test_pages_follow_their_links(client: httpx.Client):
    for number in range(5):
        stream(client, turn(1), turn(2), turn(3), name=f"c{number}")
    for path, names in (("/conversations?limit=2&sort=name", 5), ("/conversations/c0/exchanges?limit=2", 3)):
        url, read = f"{API}{path}", 0
        while url:
            page = client.get(url)
            assert page.json()["total"] == names
            read += len(page.json()["items"])
            url = page.links.get("next", {}).get("url", "")
        assert read == names


def test_an_idempotency_key_answers_turns_without_numbers_once(client: httpx.Client):
    item = {"author": "Ann", "content": "Hello"}
    for _ in range(2):
        answer = client.post(
            f"{API}/conversations/c/exchanges", json={"items": [item]}, headers={"Idempotency-Key": "k"}
        )
        assert answer.json()["next_turn"] == 2
    assert client.get(f"{API}/conversations/c").json()["turns"] == 1


@pytest.fixture
def rights(engine: Engine) -> Any:
    administrator(engine)
    callers = {"full": with_mode(engine, "full", "*")}
    callers["notes"] = with_mode(engine, "full", "*", category="notes")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        yield lambda who, method, path, **more: client.request(
            method, f"{API}{path}", headers=callers[who].headers, **more
        )


def test_a_key_of_one_category_has_names_of_its_own(rights: Any):
    rights("full", "POST", "/conversations/c/exchanges", json={"items": [turn(1, "hidden")]})
    for method, path in (
        ("GET", "/conversations/c"), ("GET", "/conversations/c/exchanges"), ("GET", "/conversations/c/topics"),
        ("PATCH", "/conversations/c"), ("DELETE", "/conversations/c"), ("DELETE", "/conversations/c?purge=true"),
        ("DELETE", "/sessions/default"), ("GET", "/sessions/default"),
    ):  # fmt: skip
        body = {"title": "x"} if method == "PATCH" else None
        nowhere = path.replace("/c", "/nowhere", 1) if "/c" in path[1:] else path
        seen, unknown = rights("notes", method, path, json=body), rights("notes", method, nowhere, json=body)
        assert seen.status_code == unknown.status_code == 404, (path, seen.text)
    assert rights("notes", "GET", "/conversations").json()["total"] == 0
    assert rights("notes", "GET", "/conversations?category=other").status_code == 403
    own = rights("notes", "POST", "/conversations/c/exchanges", json={"items": [turn(1, "mine")]})
    assert own.json()["category"] == "notes" and own.json()["created"] == 1
    assert rights("full", "GET", "/conversations/c").json()["category"] is None
    assert rights("full", "GET", "/conversations/c?category=notes").json()["turns"] == 1
    found = rights("notes", "POST", "/search", json={"query": "hidden", "filter": {"session": "default"}}).json()
    assert [hit["memory"]["content"] for hit in found["hits"]] in ([], ["mine"])
