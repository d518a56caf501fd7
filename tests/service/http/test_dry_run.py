"""`dry_run=true`: every request that changes something tells what it would do, and not a row differs afterwards."""

from collections.abc import Iterator

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.store.database import Database, Rows, Statement
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, draft
from tests.service.keyed import BODIES, STATEMENTS, url
from tests.stores import Stores

SPACE = "tried"
COUNTS = {"retrievals", "muisti_writes"}
# A key that is shown must be valid, so keys have no dry run. Receipts, searches, probes and models change no memory.
# The read log is no memory. Graphs are read by a task, whose dry run reads some versions.
# Files have tests of their own. Contexts and compressed texts are answers. Summaries are derived, and made by reading.
NOT_TRIED = {
    "createKey", "revokeKey", "rotateKey", "search", "searchSpaces", "replayReceipt", "addProbe", "runProbes",
    "deleteProbe", "importMemories", "previewDocument", "undoImport", "getContext", "getHandoff", "optimizeText",
    "summariseConversation", "summariseSession", "summariseExchange", "summariseSpace",
    "forgetReads", "warmSpace",
    "addDatabase", "moveUnits", "promoteSpace", "drainDatabase",  # tests/placement/test_managing.py tries them
    "buildGraph", "buildGeneration", "compareGenerations", "switchGeneration", "rollBackGeneration", "dropGeneration",
}  # fmt: skip
SHOWN_ONCE = {"secret"}  # of what was made
OTHERS = {
    "createSpace": {"name": "another"}, "mergeSpaces": {"from": "default"},
    "createWebhook": {"url": "http://127.0.0.1:9/"}, "redeliverWebhook": {"since": 1},
    "pruneDocuments": {"strategy": "orphaned_chunks"}, "syncDocuments": {"files": [], "folder": "syncDocuments"},
}  # fmt: skip
REVIEWS = {"promote": {"retrievals": 1}, "prune": {"retrievals": 9, "days": 0}}  # which find the memory


@pytest.fixture(scope="module")
def opened(stores: Stores) -> Iterator[tuple[httpx.Client, Database]]:
    database = stores().open()
    with (
        Engine(database, WordEncoder(), Clock()) as engine,
        TestClient(create_app(Settings(webhook_hosts="127.0.0.1:9", webhook_private=True), engine=engine)) as client,
    ):
        engine.spaces.create(SPACE)
        engine.tasks.submit(SPACE, "unknown", {}, OWNER)
        yield client, database


@pytest.fixture
def client(opened: tuple[httpx.Client, Database]) -> httpx.Client:
    return opened[0]


@pytest.fixture
def database(opened: tuple[httpx.Client, Database]) -> Database:
    return opened[1]


def rows(database: Database) -> dict[str, Rows]:
    """All that is stored, but for what counts reads and the writes that counting takes."""
    (tables,) = database.primary.read([Statement("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")])
    names = [str(name) for (name,) in tables if name not in COUNTS]
    found = database.primary.read([Statement(f'SELECT * FROM "{name}"') for name in names])
    return {name: sorted(each, key=repr) for name, each in zip(names, found, strict=True)}


@pytest.fixture(scope="module")
def changing(opened: tuple[httpx.Client, Database]) -> dict[str, tuple[str, str]]:
    """The operations that change something, with method and path."""
    paths = opened[0].get("/openapi.json").json()["paths"]
    return {
        found["operationId"]: (method, path)
        for path, item in paths.items()
        for method, found in item.items()
        if method != "get" and found["operationId"] not in NOT_TRIED
    }


def ask(client: httpx.Client, operation: str, method: str, path: str, **query: str) -> httpx.Response:
    known = client.get(f"/v1/spaces/{SPACE}/entries/rules/{operation}").json()
    given = {"space": SPACE, "memory_id": known.get("id"), "key": operation, "checkpoint": "made"}
    if operation in STATEMENTS:
        known = client.get(f"/v1/spaces/{SPACE}/graph/relations?subject=Ann Berg").json()["items"][0]
        given["memory_id"] = known["memory"]
    given |= dict.fromkeys(("session", "conversation", "document"), operation)
    for name, listed in (("conflict_id", "conflicts"), ("webhook_id", "webhooks"), ("task_id", "tasks")):
        if name in path:
            given[name] = client.get(f"/v1/spaces/{SPACE}/{listed}").json()["items"][0]["id"]
    confirmed = {"confirm": SPACE} if operation == "deleteSpace" else {}
    body = OTHERS.get(operation, REVIEWS.get(operation, BODIES.get(operation)))
    return client.request(method, url(path, **given), json=body, params=confirmed | query)


def test_every_request_that_changes_something_can_be_tried(client: httpx.Client, changing: dict[str, tuple[str, str]]):
    paths = client.get("/openapi.json").json()["paths"]
    for operation, (method, path) in changing.items():
        names = {parameter["name"] for parameter in paths[path][method]["parameters"]}
        assert "dry_run" in names, operation


def test_what_is_tried_changes_no_row_and_tells_what_would_come_of_it(
    client: httpx.Client, database: Database, changing: dict[str, tuple[str, str]]
):
    last = ("deleteWebhook", "setQuota", "clearSpace", "deleteSpace")
    for operation in [*(name for name in changing if name not in last), *last]:
        if operation not in last:
            how = "review" if operation == "decideConflict" else "keep"
            first = draft("We deploy", category="rules", key=operation, author="Ann", on_conflict=how)
            stored = client.post(f"/v1/spaces/{SPACE}/memories", json=first).json()
            change = {"status": "candidate"} if operation in REVIEWS else {"reason": "because"}
            client.patch(f"/v1/spaces/{SPACE}/memories/{stored['id']}", json=change)
            talk(client, operation)
        client.get(f"/v1/spaces/{SPACE}/graph/entities")  # reads what was written, so that nothing is left to read
        before = rows(database)
        reply = ask(client, operation, *changing[operation], dry_run="true")
        assert reply.status_code == 200 and reply.json()["dry_run"] is True, (operation, reply.text)
        assert rows(database) == before, operation
        done = ask(client, operation, *changing[operation])
        assert done.status_code == reply.json()["status"], (operation, done.text)
        after = rows(database)
        assert after != before, operation
        answer = reply.json()["answer"]
        assert (answer is None) == (not done.content)
        assert answer is None or answer.keys() == done.json().keys() - SHOWN_ONCE, operation
        known = {row[:2] for row in before["changes"]}
        here = {row[0] for row in before["spaces"]}  # the changes of a fork are those of another space
        new = (row for row in after["changes"] if row[:2] not in known and row[0] in here)
        made = sorted(new, key=_seq)
        assert [one["kind"] for one in reply.json()["items"]] == [row[2] for row in made], operation
        assert reply.json()["changes"] == len(made)


def talk(client: httpx.Client, operation: str) -> None:
    """Make a conversation with a topic, and a memory that can be adopted, all named like the operation."""
    place = f"/v1/spaces/{SPACE}/conversations/{operation}"
    items = [{"turn": 1, "author": "Ann", "content": f"We talk about {operation}"}]
    client.post(f"{place}/exchanges", json={"items": items, "session": operation})
    spans = (("t0", [1, 4]), ("t1", [5, 20]), ("t2", [21, 30]))
    for topic, span in spans if operation in ("splitTopic", "moveTopic", "mergeTopics") else (("t1", None),):
        client.post(f"{place}/topics", json={"name": topic, **({"spans": [span]} if span else {})})
    if operation in STATEMENTS:
        relation = {"subject": "Ann Berg", "kind": "works_at", "object": "Acme"}
        client.post(f"/v1/spaces/{SPACE}/graph/relations", json=relation)
    if operation == "suggestPreferences":
        client.post(f"{place}/exchanges", json={"items": [{"turn": 2, "author": "Ann", "content": "I prefer tea."}]})
    if operation == "releaseFromWorkingMemory":
        client.put(f"{place}/working/{operation}", json={"content": "Keep it short."})
    if operation in ("deleteDocument", "syncDocuments"):
        client.put(f"/v1/spaces/{SPACE}/documents/{operation}", json={"content": "We moved to Turku."})
    if operation == "pruneDocuments":
        client.post(f"/v1/spaces/{SPACE}/memories", json=draft("A chunk of nothing", kind="chunk"))
    if operation == "adoptConversations":
        metadata = {"session": "lifted", "turn": 1}
        client.post(f"/v1/spaces/{SPACE}/memories", json=draft("A turn of before", metadata=metadata))


def _seq(row: tuple[object, ...]) -> int:
    assert isinstance(row[1], int)
    return row[1]


def test_refusals_are_those_of_the_request_itself(client: httpx.Client, database: Database):
    client.post(f"{API}/memories", json=draft("We deploy on Fridays"))
    before = rows(database)
    again = client.post(f"{API}/memories", json=draft("we deploy on fridays"), params={"dry_run": "true"})
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    missing = client.delete(f"{API}/memories/{'0' * 8}", params={"dry_run": "true"})
    assert missing.status_code == 404
    assert client.post(f"{API}/memories", json=draft(), params={"dry_run": "perhaps"}).status_code == 422
    assert rows(database) == before


def test_what_would_be_kept_beside_or_superseded_is_told(client: httpx.Client):
    old = client.post(f"{API}/memories", json=draft("The lake is deep and cold")).json()
    same = draft("the lake is DEEP and cold")
    kept = client.post(f"{API}/memories", json={**same, "on_conflict": "keep"}, params={"dry_run": "true"}).json()
    assert [one["id"] for one in kept["answer"]["similar"]] == [old["id"]]
    instead = client.post(f"{API}/memories", json={**same, "on_conflict": "supersede"}, params={"dry_run": "true"})
    assert [one["kind"] for one in instead.json()["items"]] == ["superseded", "created"]
    assert instead.json()["items"][0]["memory_id"] == instead.json()["answer"]["supersedes"] == old["id"]


def test_a_batch_that_is_not_atomic_tells_what_each_would_meet_in_it(client: httpx.Client):
    texts = ["an apple a day", "rain in May", "AN apple a day", "snow in July", "Rain in May"]
    batch = {"memories": [draft(text) for text in texts], "atomic": False, "on_conflict": "reject"}
    reply = client.post(f"{API}/memories/batch", json=batch, params={"dry_run": "true"}).json()
    done = client.post(f"{API}/memories/batch", json=batch).json()
    assert [one["status"] for one in reply["answer"]["items"]] == [one["status"] for one in done["items"]]
    assert (reply["answer"]["created"], reply["changes"]) == (done["created"], done["created"]) == (3, 3)


def test_a_key_is_neither_looked_at_nor_kept(client: httpx.Client):
    headers = {"Idempotency-Key": "k1", "Prefer": "return=minimal"}
    for text in ("one thought", "another thing"):
        reply = client.post(f"{API}/memories", json=draft(text), params={"dry_run": "true"}, headers=headers)
        assert reply.json()["answer"]["content"] == text
        assert "ETag" not in reply.headers and "Location" not in reply.headers
    done = client.post(f"{API}/memories", json=draft("one thought"), headers=headers)
    assert (done.status_code, "Idempotent-Replayed" in done.headers) == (201, False)
    assert reply.headers["Muisti-Seq"].split(":")[0] == done.headers["Muisti-Seq"].split(":")[0]
    assert int(reply.headers["Muisti-Seq"].split(":")[1]) + 1 == int(done.headers["Muisti-Seq"].split(":")[1])


def test_probes_that_would_rank_otherwise_are_told(client: httpx.Client):
    old = client.post(f"{API}/memories", json=draft("the kettle is green", on_conflict="keep")).json()["id"]
    other = client.post(f"{API}/memories", json=draft("the old kettle broke", on_conflict="keep")).json()["id"]
    pinned = [
        client.post(f"{API}/probes", json={"query": query, "memory_id": id_}).json()["id"]
        for query, id_ in (("green kettle", old), ("broke", other))
    ]
    tried = {"dry_run": "true"}
    gone = client.delete(f"{API}/memories/{old}", params=tried).json()
    assert gone["probes"] == [{"id": pinned[0], "query": "green kettle", "before": 1, "after": None}]
    better = draft("green kettle", on_conflict="keep")
    (shift,) = client.post(f"{API}/memories", json=better, params=tried).json()["probes"]
    assert (shift["id"], shift["before"], shift["after"]) == (pinned[0], 1, 2)
    assert client.post(f"{API}/memories", json=draft("a lamp", on_conflict="keep"), params=tried).json()["probes"] == []
    assert client.post(f"{API}/probes/run").json()["recall"] == 1.0
    assert client.post(f"{API}/memories", json=better).status_code == 201  # and then it is so
    ranks = {one["id"]: one["rank"] for one in client.post(f"{API}/probes/run").json()["ranks"]}
    assert ranks == {pinned[0]: 2, pinned[1]: 1}
