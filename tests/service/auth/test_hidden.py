"""Compare answers to a limited key in two worlds: with memories that it may not read, and without them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.grants import Grant
from muisti.core.model.terms import Scope
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import draft
from tests.service.keyed import administrator
from tests.service.paths import scrubbed

pytestmark = pytest.mark.one_store

SALARY = "The salary of Ann Lee is {} euros a month."
ALL: tuple[Scope, ...] = ("read", "append", "write", "delete")
KEYS: Mapping[str, tuple[tuple[Scope, ...], str | None]] = {
    "append": (("append",), None),
    "category": (ALL, "own"),
    "category-append": (("append",), "own"),
    "category-read-append": (("read", "append"), "own"),
}
WORLDS = ("full", "empty")
Call = Callable[[httpx.Client, str, str, str], httpx.Response]


def add(body: Mapping[str, Any], query: str = "") -> Call:
    """Add a memory; `ID` in a value is a hidden memory, or one that does not exist."""

    def call(client: httpx.Client, space: str, hidden: str, own: str) -> httpx.Response:
        return client.post(f"/v1/spaces/{space}/memories{query}", json=_named(body, hidden))

    return call


def batch(body: Mapping[str, Any], query: str = "") -> Call:
    def call(client: httpx.Client, space: str, hidden: str, own: str) -> httpx.Response:
        return client.post(f"/v1/spaces/{space}/memories/batch{query}", json={"memories": [_named(body, hidden)]})

    return call


def change(method: str, path: str, body: Mapping[str, Any]) -> Call:
    def call(client: httpx.Client, space: str, hidden: str, own: str) -> httpx.Response:
        return client.request(method, f"/v1/spaces/{space}{path.replace('OWN', own)}", json=_named(body, hidden))

    return call


def tool(body: Mapping[str, Any]) -> Call:
    def call(client: httpx.Client, space: str, hidden: str, own: str) -> httpx.Response:
        called = {"name": "remember", "arguments": {**_named(body, hidden), "space": space}}
        accept = {"Accept": "application/json, text/event-stream"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        return client.post("/mcp", json=message, headers=accept)

    return call


def _named(body: Mapping[str, Any], hidden: str) -> dict[str, Any]:
    return {name: {"ID": hidden, "IDS": [hidden]}.get(str(value), value) for name, value in body.items()}


SAID = [{"content": SALARY.format(number)} for number in (5433, 5434)]
POINTING = [{"content": "A note of its own.", "parent_id": "ID"}, {"content": "A note too.", "derived_from": "IDS"}]
CALLS: Mapping[str, Call] = {
    **{
        f"{what} {query} {body}": make(body, query)
        for what, make in (("add", add), ("batch", batch))
        for query in ("", "?dry_run=true")
        for body in (*SAID, *POINTING)
    },
    **{f"add {how} {body}": add({**body, "on_conflict": how}) for how in ("keep", "review") for body in SAID},
    **{f"remember {body}": tool(body) for body in (*SAID, *POINTING)},
    **{f"patch {body}": change("PATCH", "/memories/OWN", body) for body in (*SAID, *POINTING)},
    **{f"put {body}": change("PUT", "/entries/own/k", body) for body in (*SAID, *POINTING)},
    **{f"supersede {body}": change("POST", "/memories/OWN/supersede", body) for body in (*SAID, *POINTING)},
    "checkpoints": lambda client, space, hidden, own: client.get(f"/v1/spaces/{space}/checkpoints"),
}


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


@pytest.mark.parametrize("key", KEYS)
def test_hidden_memories_change_no_answer(client: httpx.Client, engine: Engine, key: str):
    owner = administrator(engine).headers
    scopes, category = KEYS[key]
    secret = engine.keys.create(Grant(frozenset(scopes), ("*",), category), engine.now(), name="k")[1]
    for number, (name, call) in enumerate(CALLS.items()):
        answers: list[Any] = []
        for world in WORLDS:
            space = f"{world}-{number}"
            api = f"/v1/spaces/{space}"
            engine.spaces.create(space)
            client.headers.update(owner)
            own = client.post(f"{api}/memories", json=draft("Mine, about boats.", category="own")).json()["id"]
            texts = [SALARY.format(5433), *(f"{SALARY.format(5433)} Noted {day}." for day in "abcdef")]
            said = texts if world == "full" else [f"The harbour opens at {hour}." for hour in range(len(texts))]
            stored = [client.post(f"{api}/memories", json=hidden_draft(text)).json()["id"] for text in said]
            note = "Layoffs on Friday." if world == "full" else None
            assert client.post(f"{api}/checkpoints", json={"name": "c", "note": note}).status_code == 201
            hidden = stored[0] if world == "full" else "0197a3c0-5f4e-7000-8000-0123456789ab"
            client.headers["Authorization"] = f"Bearer {secret}"
            answer = call(client, space, hidden, own)
            answers.append((answer.status_code, scrubbed(answer.text, space)))
        assert answers[0] == answers[1], name


def hidden_draft(text: str) -> dict[str, Any]:
    return {"content": text, "category": "secret", "on_conflict": "keep"}


@pytest.mark.parametrize("said", SAID)
def test_a_review_takes_what_the_caller_may_not_read(client: httpx.Client, engine: Engine, said: dict[str, Any]):
    owner = administrator(engine).headers
    engine.spaces.create("s")
    secret = engine.keys.create(Grant(frozenset({"append"}), ("*",)), engine.now(), name="k")[1]
    client.post("/v1/spaces/s/memories", json=hidden_draft(SALARY.format(5433)), headers=owner)
    added = client.post("/v1/spaces/s/memories", json=said, headers={"Authorization": f"Bearer {secret}"})
    assert added.status_code == 201
    (conflict,) = client.get("/v1/spaces/s/conflicts", headers=owner).json()["items"]
    assert added.json()["id"] in str(conflict)


def test_hidden_memories_displace_none_that_a_key_may_read(client: httpx.Client, engine: Engine):
    owner = administrator(engine).headers
    engine.spaces.create("s")
    secret = engine.keys.create(Grant(frozenset({"read", "append"}), ("*",), "own"), engine.now(), name="k")[1]
    for text in [SALARY.format(5433), *(SALARY.format(5433) + " " * more for more in range(8))]:
        client.post("/v1/spaces/s/memories", json=hidden_draft(text), headers=owner)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.post("/v1/spaces/s/memories", json=SAID[0], headers=headers).status_code == 201
    again = client.post("/v1/spaces/s/memories", json=SAID[0], headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
