"""The read log: each read is logged once, without content; the log is off by default, and for administrators."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.feed import stream as feed
from muisti.service.observability.read_log import ReadLog
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import administrator, caller, with_mode
from tests.service.mcp_client import answer as tool
from tests.service.runtime.test_admission import served

SECRET = "zebra quark prism"
Opening = Callable[..., AbstractContextManager[httpx.Client]]


pytestmark = pytest.mark.one_store  # the log is in the process


@pytest.fixture
def opened(engine: Engine) -> Opening:
    @contextmanager
    def opening(**settings: Any) -> Iterator[httpx.Client]:
        with TestClient(create_app(Settings(**settings), engine=engine)) as client:
            yield client

    return opening


def logged(client: httpx.Client, **parameters: str | int) -> list[dict[str, Any]]:
    return client.get(f"{API}/reads", params=parameters).json()["items"]


def test_it_is_off_unless_it_is_turned_on(client: httpx.Client):
    client.post(f"{API}/memories", json=draft("tea"))
    client.post(f"{API}/search", json={"query": "tea"})
    off = client.get(f"{API}/reads").json()
    assert (off["mode"], off["items"], off["next_cursor"]) == ("off", [], None)
    assert client.get(f"{API}/reads/unanswered").json()["mode"] == "off"
    stream = client.get(f"{API}/reads", headers={"Accept": "text/event-stream"}).text
    assert "event: end" in stream and '"code":"off"' in stream


def test_every_way_to_read_is_logged_once_and_without_content(opened: Opening):
    with opened(read_log="ring") as client:
        id_ = client.post(f"{API}/memories", json=draft("Anna likes tea", category="a", key="k")).json()["id"]
        assert logged(client) == []
        ways: dict[str, Callable[[], Any]] = {
            "search": lambda: client.post(f"{API}/search", json={"query": SECRET}),
            "search slowly": lambda: client.post(f"{API}/search?", json={"query": SECRET, "explain_ids": [id_]}),
            "search several": lambda: client.post(
                "/v1/search", json={"query": SECRET, "spaces": [{"name": "default"}]}
            ),
            "context": lambda: client.post(f"{API}/context", json={"query": SECRET}),
            "get": lambda: client.get(f"{API}/memories/{id_}"),
            "get an entry": lambda: client.get(f"{API}/entries/a/k"),
            "list": lambda: client.get(f"{API}/memories"),
            "recall": lambda: tool(client, "recall", query=SECRET),
            "context by a tool": lambda: tool(client, "get_context", query=SECRET),
            "get by a tool": lambda: tool(client, "get_memory", id=id_),
            "list by a tool": lambda: tool(client, "list_memories"),
        }
        for number, (way, read) in enumerate(ways.items(), start=1):
            read()
            found = logged(client)
            assert len(found) == number, way
            assert found[0]["operation"] == way.split()[0] and found[0]["actor"] == "anonymous", way
            assert found[0]["request_id"] and found[0]["ms"] > 0, way
            assert (found[0]["evidence"] is None) == (way.split()[0] in ("get", "list")), way
        assert [one["hits"] for one in logged(client)[:2]] == [1, 1]
        shown = json.dumps(client.get(f"{API}/reads").json()).lower()
        assert not any(word in shown for word in (*SECRET.split(), "anna", "tea"))
        assert client.get(f"{API}/reads/unanswered").json()["items"] == []  # not in this mode


def test_an_entry_names_the_request_and_the_receipt(opened: Opening):
    with opened(read_log="ring") as client:
        client.post(f"{API}/memories", json=draft("tea"))
        answer = client.post(
            f"{API}/search", json={"query": "tea", "receipt": True}, headers={"X-Request-Id": "r-7"}
        ).json()
        (one,) = logged(client)
        assert (one["request_id"], one["receipt"], one["hits"]) == ("r-7", answer["receipt"], 1)
        assert one["evidence"] == answer["evidence"]
        assert client.get(f"{API}/memories/{answer['receipt']}").status_code == 404
        assert len(logged(client)) == 1  # what is refused is no read


def test_the_log_is_a_ring_with_pages(opened: Opening):
    with opened(read_log="ring", read_log_size=5) as client:
        for _ in range(7):
            client.get(f"{API}/memories")
        ids = [one["id"] for one in logged(client)]
        assert [int(one.split(":")[1]) for one in ids] == [7, 6, 5, 4, 3]
        first = client.get(f"{API}/reads", params={"limit": 2})
        assert [one["id"] for one in first.json()["items"]] == ids[:2] and 'rel="next"' in first.headers["Link"]
        assert [one["id"] for one in logged(client, limit=2, cursor=first.json()["next_cursor"])] == ids[2:4]
        assert [one["id"] for one in logged(client, after=ids[2])] == ids[:2]
        assert [one["id"] for one in logged(client, after="0" * 12 + ":7")] == ids  # of another process
        for bad in ({"after": "x"}, {"cursor": "7"}, {"limit": 0}, {"other": 1}):
            assert client.get(f"{API}/reads", params=bad).status_code == 422


def test_questions_that_found_nothing_are_counted_until_they_are_cleared(opened: Opening):
    with opened(read_log="questions") as client:
        client.post(f"{API}/memories", json=draft("tea is served at five"))
        for query in ("Who is  ON call?", "who is on call", "zebra quark?", "tea is served at five"):
            client.post(f"{API}/search", json={"query": query, "mode": "keyword"})
        tool(client, "recall", query="who is on call!", mode="keyword")
        found = client.get(f"{API}/reads/unanswered").json()
        assert [(one["text"], one["count"]) for one in found["items"]] == [("who is on call", 3), ("zebra quark", 1)]
        assert found["items"][0]["first_at"] < found["items"][0]["last_at"]
        assert "zebra" not in json.dumps(client.get(f"{API}/reads").json())
        assert client.delete(f"{API}/reads").status_code == 204
        assert client.get(f"{API}/reads/unanswered").json()["items"] == logged(client) == []


def test_another_space_of_the_name_has_none_of_it(opened: Opening, engine: Engine):
    with opened(read_log="questions") as client:
        engine.spaces.create("a")
        client.post("/v1/spaces/a/search", json={"query": "zebra", "mode": "keyword"})
        assert len(client.get("/v1/spaces/a/reads").json()["items"]) == 1
        engine.spaces.delete("a")
        engine.spaces.create("a")
        assert client.get("/v1/spaces/a/reads").json()["items"] == []
        assert client.get("/v1/spaces/a/reads/unanswered").json()["items"] == []
        assert logged(client) == []


def test_it_is_for_administrators_of_the_space(opened: Opening, engine: Engine):
    admin, reader = administrator(engine), with_mode(engine, "read-only", "default")
    elsewhere = caller(engine, ("read", "admin"), "elsewhere")
    engine.owner.write.add("default", [Draft(content="tea")])
    with opened(read_log="questions") as client:
        for method, path in (("GET", "reads"), ("GET", "reads/unanswered"), ("DELETE", "reads")):
            found = {
                who: client.request(method, f"{API}/{path}", headers=who.headers).status_code
                for who in (admin, reader, elsewhere)
            }
            assert [found[reader], found[elsewhere]] == [403, 404]
            assert found[admin] in (200, 204)
        assert client.get("/v1/spaces/none/reads", headers=admin.headers).status_code == 404


def test_reads_are_streamed_as_they_happen(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feed, "READS_LOOK", 0.05)
    with served(engine, read_log="ring") as url, httpx.Client(base_url=url, timeout=30) as client:
        client.get(f"{API}/memories")
        (before,) = logged(client)
        headers = {"Accept": "text/event-stream", "Last-Event-ID": before["id"]}
        with (
            httpx.Client(base_url=url, timeout=30) as other,
            other.stream("GET", f"{API}/reads", headers=headers) as live,
        ):
            lines = live.iter_lines()
            assert next(lines).startswith("retry:")
            other.post(f"{API}/search", json={"query": "tea"})
            told = dict(line.split(": ", 1) for line in (next(lines) for _ in range(4)) if line)
    assert (told["event"], json.loads(told["data"])["operation"]) == ("read", "search")
    assert told["id"] == json.loads(told["data"])["id"]


def test_the_question_not_asked_for_longest_makes_room():
    log = ReadLog("questions", 2)
    for text in ("a", "b", "a", "c"):
        log.ask("s", "e", text)
    assert [(one.text, one.count) for one in log.questions("s", "e")] == [("a", 2), ("c", 1)]
