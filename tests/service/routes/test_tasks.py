"""Tasks over HTTP: a caller sees how far its work is, follows it, and ends it."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import zstandard
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.identity.grants import Grant
from muisti.core.model.tasks import Item, NewItem, Task
from muisti.core.tasks.claim import Claim
from muisti.service.app.app import create_app
from muisti.service.http.respond import accepted
from muisti.service.settings import Settings
from tests.core.tasks.kinds import Remember
from tests.service.fakes import API


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """An event that the work waits for before its second item, so that a test sees it under way."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
def client(engine: Engine, gate: threading.Event) -> Iterator[httpx.Client]:
    def wait(claim: Claim, item: Item) -> None:
        if item.name.startswith("bad"):
            raise ValueError("a bad item")
        while item.name.startswith("slow") and not gate.is_set() and not claim.ended.wait(0.02):
            pass

    engine.tasks.register(Remember(engine, wait))
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def submit(engine: Engine, *names: str, caller: Caller = OWNER) -> Task:
    return engine.tasks.submit("default", "remember", {"why": "test"}, caller, [NewItem(name) for name in names])


def ended(client: httpx.Client, task: Task) -> dict[str, Any]:
    """Wait for the end of a task as a client does."""
    seen = client.get(f"{API}/tasks/{task.id}").json()
    while seen["ended_at"] is None:
        seen = client.get(f"{API}/tasks/{task.id}", params={"wait": 5, "after": seen["revision"]}).json()
    return seen


def test_a_task_begins_at_once_and_tells_how_it_ended(client: httpx.Client, engine: Engine):
    task = submit(engine, "a", "bad", "c")
    seen = ended(client, task)
    assert (seen["state"], seen["total"], seen["done"], seen["failed"]) == ("partial", 3, 2, 1)
    assert seen["result"] == {"stored": 2} and seen["asked"] == {"why": "test"} and seen["seconds_left"] == 0
    (bad,) = client.get(f"{API}/tasks/{task.id}/items", params={"state": "failed"}).json()["items"]
    assert (bad["name"], bad["error"]) == ("bad", {"code": "test.bad", "detail": "a bad item"})


def test_items_come_page_by_page(client: httpx.Client, engine: Engine):
    task = submit(engine, *map(str, range(5)))
    ended(client, task)
    first = client.get(f"{API}/tasks/{task.id}/items", params={"limit": 3})
    rest = client.get(first.links["next"]["url"]).json()
    assert [one["name"] for one in first.json()["items"] + rest["items"]] == list("01234")
    assert rest["next_cursor"] is None


def test_tasks_are_listed_by_state_and_kind(client: httpx.Client, engine: Engine, gate: threading.Event):
    done, slow = submit(engine, "a"), submit(engine, "slow")
    ended(client, done)
    assert [one["id"] for one in client.get(f"{API}/tasks").json()["items"]] == [slow.id, done.id]
    assert [one["id"] for one in client.get(f"{API}/tasks?state=succeeded,failed").json()["items"]] == [done.id]
    assert client.get(f"{API}/tasks?kind=other").json()["items"] == []
    assert client.get(f"{API}/tasks?state=asleep").json()["code"] == "invalid_input"


def test_a_task_in_work_is_cancelled_at_once_and_again(client: httpx.Client, engine: Engine):
    task = submit(engine, *("a" for _ in range(16)), "slow", "never")
    seen = client.get(f"{API}/tasks/{task.id}").json()
    while seen["done"] < 16:
        seen = client.get(f"{API}/tasks/{task.id}", params={"wait": 5, "after": seen["revision"]}).json()
    for _ in range(2):
        answer = client.post(f"{API}/tasks/{task.id}/cancel")
        assert (answer.status_code, answer.json()["state"], answer.json()["done"]) == (200, "cancelled", 16)
    assert client.get(f"{API}/stats").json()["memories"] == 16


def events(client: httpx.Client, task: Task, **headers: str) -> list[tuple[int, str, dict[str, Any]]]:
    found = list[tuple[int, str, dict[str, Any]]]()
    text = client.get(f"{API}/tasks/{task.id}/events", headers=headers).text
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def test_a_stream_follows_a_task_to_its_end_and_resumes(client: httpx.Client, engine: Engine):
    task = submit(engine, *map(str, range(20)))
    seen = events(client, task)
    numbers = [number for number, _, _ in seen]
    assert numbers == sorted(set(numbers))
    assert [name for _, name, _ in seen][-1] == "end" and seen[-1][2]["done"] == 20
    assert [number for number, _, _ in events(client, task, **{"Last-Event-ID": str(numbers[-1] - 1)})] == numbers[-1:]
    assert events(client, task, **{"Last-Event-ID": str(numbers[-1])}) == []
    refused = client.get(f"{API}/tasks/{task.id}/events", headers={"Last-Event-ID": "x"})
    assert refused.json()["code"] == "malformed_header"


def test_an_unknown_task_is_not_found(client: httpx.Client):
    for answer in (
        client.get(f"{API}/tasks/unknown"),
        client.get(f"{API}/tasks/unknown/items"),
        client.get(f"{API}/tasks/unknown/events"),
        client.post(f"{API}/tasks/unknown/cancel"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_an_accepted_request_says_where_its_task_is(engine: Engine):
    task = submit(engine, "a")
    answer = accepted(task)
    assert (answer.status_code, answer.headers["Location"]) == (202, f"{API}/tasks/{task.id}")
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.fixture
def keyed(engine: Engine) -> Iterator[Callable[..., httpx.Client]]:
    """Make a client with a key of some scopes, in one category or in all."""
    with TestClient(create_app(Settings(), engine=engine)) as opened:

        def client(*scopes: Any, category: str | None = None) -> tuple[httpx.Client, str]:
            grant = Grant(frozenset(scopes), ("*",), category)
            key, secret = engine.keys.create(grant, engine.now(), name="a key")
            return opened, secret

        yield client


def test_keys_see_and_cancel_their_own_tasks_and_with_more_scopes_those_of_others(
    engine: Engine, keyed: Callable[..., Any]
):
    others = submit(engine, "a")
    client, only = keyed("append", category="work")
    mine = {"Authorization": f"Bearer {only}"}
    assert client.get(f"{API}/tasks", headers=mine).json()["items"] == []
    assert client.get(f"{API}/tasks/{others.id}", headers=mine).status_code == 404
    _, reads = keyed("read")
    reading = {"Authorization": f"Bearer {reads}"}
    assert [one["id"] for one in client.get(f"{API}/tasks", headers=reading).json()["items"]] == [others.id]
    assert client.post(f"{API}/tasks/{others.id}/cancel", headers=reading).status_code == 403
    _, writes = keyed("read", "write")
    answer = client.post(f"{API}/tasks/{others.id}/cancel", headers={"Authorization": f"Bearer {writes}"})
    assert answer.json()["state"] == "cancelled"


FILE = b"".join(
    line + b"\n"
    for line in (
        b'{"type": "muisti", "format": 2}',
        *(b'{"type": "memory", "memory": {"id": "0190a0b0-0000-7000-8000-%012d", "content": "memory %d"}}' % (n, n)
          for n in range(30)),
        b'{"type": "end", "lines": 31}',
    )
)  # fmt: skip
LINES = {"Content-Type": "application/x-ndjson"}


def test_an_import_is_accepted_as_a_task_with_the_report_as_its_result(client: httpx.Client):
    url = f"{API}/import?task=true&atomic=false"
    keyed = {**LINES, "Idempotency-Key": "once"}
    answer = client.post(url, content=FILE, headers=keyed)
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "1")
    where = answer.headers["Location"]
    seen = client.get(where).json()
    while seen["ended_at"] is None:
        seen = client.get(where, params={"wait": 5, "after": seen["revision"]}).json()
    assert (seen["state"], seen["kind"], seen["done"], seen["total"]) == ("succeeded", "import", 32, 32)
    assert (seen["result"]["created"], seen["result"]["import_id"]) == (30, 1)
    assert client.get(f"{API}/stats").json()["memories"] == 30
    again = client.post(url, content=FILE, headers=keyed)
    assert (again.json()["id"], again.headers["Idempotent-Replayed"]) == (seen["id"], "true")


def test_a_compressed_import_becomes_a_task_too(client: httpx.Client):
    answer = client.post(
        f"{API}/import?task=true", content=zstandard.compress(FILE), headers={"Content-Type": "application/zstd"}
    )
    seen = client.get(answer.headers["Location"], params={"wait": 30, "after": 10**9}).json()
    assert seen["result"]["created"] == 30


@pytest.mark.parametrize(
    ("query", "body", "code"), [("&dry_run=true", FILE, "invalid_input"), ("", b"\xff" * 9_000_000, "invalid_input")]
)
def test_an_import_that_can_be_no_task_is_refused_at_once(client: httpx.Client, query: str, body: bytes, code: str):
    answer = client.post(f"{API}/import?task=true{query}", content=body, headers=LINES)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert client.get(f"{API}/tasks").json()["items"] == []


def test_a_purge_is_a_task_with_the_signed_report_as_its_result(client: httpx.Client):
    items = [{"content": f"memory {number}", "author": "Ann"} for number in range(5)]
    client.post(f"{API}/memories/batch", json={"memories": [*items, {"content": "of Ben", "author": "Ben"}]})
    answer = client.post(f"{API}/purge?task=true", json={"author": "Ann"}, headers={"Idempotency-Key": "once"})
    assert answer.status_code == 202
    seen = client.get(answer.headers["Location"], params={"wait": 30, "after": 10**9}).json()
    assert (seen["state"], seen["kind"]) == ("succeeded", "purge")
    report = seen["result"]["report"]
    assert seen["asked"] == report["what"]  # the record that stays has no name, and a digest of it
    _, salt, digest = report["what"]["author"].split(":")
    assert hashlib.sha256(f"{salt}Ann".encode()).hexdigest() == digest
    assert report["erased"]["memories"] == 5 and not any(report["found"].values())
    assert seen["result"]["signed"].count(".") == 2
    assert client.get(f"{API}/stats").json()["memories"] == 1
    again = client.post(f"{API}/purge?task=true", json={"author": "Ann"}, headers={"Idempotency-Key": "once"})
    assert again.json()["id"] == seen["id"]
    everything = client.post(f"{API}/purge?task=true", json={"everything": True, "confirm": "default"})
    assert everything.json()["code"] == "invalid_input"
