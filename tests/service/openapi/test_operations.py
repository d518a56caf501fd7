"""Health, documents, and what happens under load."""

import asyncio
import json
import socket
import threading
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Busy
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.values import Draft
from muisti.core.store.database import Rows, Statement
from muisti.service.app.app import create_app
from muisti.service.openapi.specification import REQUESTS, canonical
from muisti.service.routes.server import ASSETS
from muisti.service.runtime.admission import Line
from muisti.service.runtime.workers import Pool
from muisti.service.settings import Settings
from tests.service.fakes import API, Breakable, draft
from tests.service.keyed import administrator, caller, url

pytestmark = pytest.mark.one_store

DOCS = Path(__file__).parents[3] / "docs"


def test_readiness_tells_what_runs(client: httpx.Client):
    ready = client.get("/readyz").json()
    assert (ready["status"], ready["schema"], ready["spaces"]) == ("ready", "ok", 1)
    assert "SQLite 3." in ready["store"]
    assert ready["embeddings"] == {"enabled": True, "model": "words", "second": "off"}
    assert ready["index_bytes"] >= 0
    assert ready["loading"] == []


def test_strangers_learn_only_whether_the_server_is_ready(engine: Engine):
    key = caller(engine, ("read",), "acme")
    engine.spaces.create("acme")
    with TestClient(create_app(Settings(), engine=engine, own_host="127.0.0.1")) as client:
        assert client.get("/readyz").json() == {"status": "ready", "schema": "ok"}
        assert client.get("/readyz", headers={"Authorization": "Bearer mk_x"}).status_code == 401
        reply = client.get("/readyz", headers=key.headers).json()
        assert reply["spaces"] == 1 and "SQLite" in reply["store"]


def test_a_probe_by_another_name_is_a_stranger(engine: Engine):
    with TestClient(create_app(Settings(), engine=engine, own_host="127.0.0.1")) as client:
        assert client.get("/readyz", headers={"Host": "muisti.cluster.local"}).json().keys() == {"status", "schema"}
        assert client.get("/readyz", headers={"Host": "127.0.0.1:8321"}).json()["spaces"] == 1


def test_without_embeddings_search_goes_by_word_and_says_so(database: Breakable, clock):
    with TestClient(create_app(Settings(), engine=Engine(database, None, clock))) as client:
        assert client.get("/readyz").json()["embeddings"] == {"enabled": False, "model": None, "second": "off"}
        client.post(f"{API}/memories", json=draft())
        answer = client.post(f"{API}/search", json={"query": "deploy"}).json()
    assert (answer["strategy"], len(answer["hits"]), len(answer["degraded"])) == ("keyword", 1, 1)


def test_the_application_opens_the_database_of_its_settings_and_closes_it(tmp_path: Path):
    settings = Settings(database_url=f"file:{tmp_path / 'deep' / 'm.db'}", embeddings=False)
    for expected in (1, 2):
        with TestClient(create_app(settings)) as client:
            client.post(f"{API}/memories", json=draft(on_conflict="keep"))
            assert client.get(f"{API}/stats").json()["memories"] == expected
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["m.db"]


def test_a_full_queue_is_busy_and_health_still_answers(engine: Engine, database: Breakable):
    settings = Settings(database_threads=1, queue_limit=1)
    gate = threading.Event()
    read = database.read
    with TestClient(create_app(settings, engine=engine)) as client:

        def held(statements: Sequence[Statement]) -> list[Rows]:
            if "store" in threading.current_thread().name:  # callers are recognised on threads of their own
                gate.wait()
            return read(statements)

        database.read = held
        answers: list[httpx.Response] = []
        callers = [threading.Thread(target=lambda: answers.append(client.get(f"{API}/stats"))) for _ in range(6)]
        for caller in callers:
            caller.start()
        while len(answers) < 4:  # one runs, one waits, four are turned away
            gate.wait(0.01)
        assert client.get("/healthz").status_code == 200
        assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(503, "busy")}
        assert {answer.headers["retry-after"] for answer in answers} == {"1"}
        gate.set()
        for caller in callers:
            caller.join()
    assert sorted(answer.status_code for answer in answers) == [200, 200, 503, 503, 503, 503]


def test_a_pool_takes_back_a_call_that_nobody_waits_for_any_more():
    gate, ran = threading.Event(), list[str]()

    async def scenario(pool: Pool) -> None:
        first = asyncio.create_task(pool.run(gate.wait))
        second = asyncio.create_task(pool.run(ran.append, "second"))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await pool.run(ran.append, "third")
        second.cancel()
        await asyncio.sleep(0)
        fourth = asyncio.create_task(pool.run(ran.append, "fourth"))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, fourth)

    pool = Pool("test", 1, 1, Line())
    asyncio.run(scenario(pool))
    pool.close()
    assert ran == ["fourth"]


def test_openapi_is_as_committed(client: httpx.Client):
    """After a change: `python -m muisti.service.app.openapi > docs/openapi.json`."""
    served = client.get("/openapi.json").json()
    assert served == json.loads((DOCS / "openapi.json").read_text("utf-8"))
    assert canonical(served) == (DOCS / "openapi.json").read_text("utf-8")


def test_every_reference_of_the_document_leads_somewhere(client: httpx.Client):
    document = client.get("/openapi.json").json()

    def walk(thing: object) -> None:
        if isinstance(thing, dict):
            if "$ref" in thing:
                place = document
                for name in thing["$ref"].removeprefix("#/").split("/"):
                    place = place[name]
            for inner in thing.values():
                walk(inner)
        elif isinstance(thing, list):
            for inner in thing:
                walk(inner)

    walk(document)


def test_every_link_of_the_document_is_told_by_an_answer(client: httpx.Client):
    document = client.get("/openapi.json").json()
    answers = [
        answer
        for item in document["paths"].values()
        for operation in item.values()
        for answer in operation["responses"].values()
    ]
    linked = {link["$ref"].rpartition("/")[2] for answer in answers for link in answer.get("links", {}).values()}
    assert linked == set(document["components"]["links"])


def test_the_examples_of_the_document_are_true(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    resolve = socket.getaddrinfo

    def resolved(host: Any, *args: Any, **named: Any) -> Any:
        return resolve("93.184.215.14" if host == "hooks.example.com" else host, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with TestClient(create_app(Settings(webhook_hosts="hooks.example.com", tasks=0), engine=engine)) as client:
        client.headers.update(administrator(engine).headers)
        document = client.get("/openapi.json").json()
        apart = [name for name in REQUESTS if name in ("addDatabase", "moveUnits", "promoteSpace", "drainDatabase")]
        assert tried(document, client, engine) == len(REQUESTS) - len(apart)


def tried(document: dict[str, Any], client: httpx.Client, engine: Engine) -> int:
    """Send the example of every request that has one; how many there are."""
    tried = 0
    hook = client.post(f"{API}/webhooks", json=REQUESTS["createWebhook"]).json()
    client.post("/v1/spaces", json={"name": REQUESTS["searchSpaces"]["inherit"][1]})
    for path, item in document["paths"].items():
        for method, operation in item.items():
            media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" not in media or path.startswith("/v1/placement"):  # tests/placement has a second database
                continue
            for text in ("We have 3 ports", "We have 4 ports"):
                client.post(f"{API}/memories", json=draft(text, on_conflict="review"))
            memory = client.post(f"{API}/memories", json=draft("exists", on_conflict="keep")).json()
            client.delete(f"{API}/entries/rules/deploy")
            if "/entries/" in path and operation["operationId"] != "putEntry":
                client.put(f"{API}/entries/rules/deploy", json={"content": "We deploy on Wednesdays"})
            converse(client, operation["operationId"])
            if "/graph/" in path:
                given_relation = {"subject": "Ann Berg", "kind": "works_at", "object": "Acme"}
                relation = client.post(f"{API}/graph/relations", json=given_relation).json()["id"]
            if "{document}" in path:
                client.put(f"{API}/documents/d1", json={"content": "We deploy on Thursdays"})
            at = url(
                path, session="s-2026-11", conversation="c-42", space=exchange(engine, operation["operationId"]),
                document="d1", memory_id=relation if "/graph/" in path else memory["id"], webhook_id=hook["id"],
                key_id=administrator(engine).id, conflict_id=client.get(f"{API}/conflicts").json()["items"][0]["id"],
            )  # fmt: skip
            response = client.request(method, at, json=media["example"])
            assert str(response.status_code) in operation["responses"] and response.is_success, response.text
            tried += 1
    return tried


def exchange(engine: Engine, operation: str) -> str:
    """Return a space whose models are where the operation can follow; `default` for operations about other things."""
    if not operation.endswith(("Generation", "Generations")):
        return DEFAULT
    space = f"models-of-{operation.lower()}"
    engine.spaces.create(space)
    engine.owner.write.add(space, [Draft(content="We deploy on Wednesdays")])
    if operation != "buildGeneration":
        engine.generations.build(space, REQUESTS["buildGeneration"]["model"], OWNER)
        while engine.runner(60, 2).run_one() == 0:
            pass
    if operation == "rollBackGeneration":
        engine.generations.switch(space, OWNER)
    return space


def converse(client: httpx.Client, operation: str) -> None:
    """Make the conversation and the topics that the example of an operation is about."""
    talk = f"{API}/conversations/c-42"
    client.delete(f"{API}/sessions/s-2026-11")
    client.patch(talk, json={"state": "open"})
    if operation not in ("createConversation", "createSession"):
        said = [{"turn": 1, "author": "Ann", "content": "Hello"}]
        client.post(f"{talk}/exchanges", json={"items": said, "session": "s-2026-11"})
    client.delete(f"{talk}/topics/t1")
    if operation == "updateTopic":
        client.post(f"{talk}/topics", json={"name": "t1"})
    if operation in ("splitTopic", "moveTopic", "mergeTopics"):
        for topic, span in (("t0", [1, 4]), ("t1", [5, 20]), ("t2", [21, 30])):
            client.post(f"{talk}/topics", json={"name": topic, "spans": [span]})


class References(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_api_browser_needs_nothing_from_elsewhere(client: httpx.Client):
    page = client.get("/docs")
    references = References()
    references.feed(page.text)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert all(target.startswith("/") for target in references.found)
    for target in references.found:
        assert client.get(target).status_code == 200
    for name, media_type in ASSETS.items():
        response = client.get(f"/docs/{name}")
        assert response.headers["content-type"].startswith(media_type)
        assert "http://" not in response.text and "https://" not in response.text
        assert "style=" not in response.text and "onclick" not in response.text


def test_a_page_that_is_none_of_ours_is_not_found(client: httpx.Client):
    assert client.get("/docs/..%2f..%2fsettings.py").status_code == 404


def test_each_purge_is_typed_beside_what_the_route_else_answers(client: httpx.Client):
    document = client.get("/openapi.json").json()

    def answers(operation: str) -> set[str]:
        (found,) = (
            one for item in document["paths"].values() for one in item.values() if one["operationId"] == operation
        )
        schema = found["responses"]["200"]["content"]["application/json"]["schema"]
        return {one["$ref"].rpartition("/")[2] for one in schema["anyOf"]}

    purged = {"ErasureReply", "DryRunReply"}
    assert answers("deleteDocument") == {"DocumentEndedReply", *purged}
    for operation in ("deleteSession", "deleteConversation", "deleteTopic"):
        assert answers(operation) == {"EndedReply", *purged}
    assert answers("deleteMemory") == purged
