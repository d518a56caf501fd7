"""Every route, every access mode, own and other space, no key, ended keys: exactly what may happen happens."""

import threading
from collections.abc import Iterator, Sequence

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.probes import Expectation
from muisti.core.model.values import Draft
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.openapi.story import FILE
from muisti.service.schemas.keys import MODES
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.service.fakes import Breakable, draft
from tests.service.keyed import (
    ANY_KEY,
    BODIES,
    LINES,
    NEEDS,
    PUBLIC,
    QUERIES,
    STATEMENTS,
    Caller,
    administrator,
    expired,
    revoked,
    with_mode,
)
from tests.stores import Stores, at

OWN, OTHER, MISSING = "acme.own", "other", "gone"
SOURCE = "acme.source"  # what is compared and merged
IN_A_SPACE = [
    name
    for name in NEEDS
    if name not in ("createSpace", "deleteSpace", "listAudit", "getMetrics", "getServerStats", "forkSpace")
]
STRANGERS = ("no key", "unknown", "malformed", "no bearer", "expired", "revoked")


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """On one store alone: what a key may do is decided before a database is asked."""
    return lambda: at(tmp_path_factory.mktemp("store") / "muisti.db")


@pytest.fixture
def keyed(engine: Engine) -> Iterator[httpx.Client]:
    administrator(engine)
    for space in (OWN, OTHER, SOURCE):
        engine.spaces.create(space)
    tokens = {"jwks": "keys.json", "jwt_issuer": "https://issuer.example", "jwt_audience": "muisti"}
    with TestClient(create_app(Settings(**tokens), engine=engine)) as opened:
        yield opened


def routes(client: httpx.Client) -> dict[str, tuple[str, str]]:
    paths = client.get("/openapi.json").json()["paths"]
    return {
        found["operationId"]: (method.upper(), path) for path, item in paths.items() for method, found in item.items()
    }


def ask(
    client: httpx.Client,
    operation: str,
    space: str,
    headers: dict[str, str],
    memory: str = "0" * 8,
    probe: str = "0" * 8,
    conflict: int = 0,
) -> httpx.Response:
    method, path = routes(client)[operation]
    url = path.format(
        space=space,
        memory_id=memory,
        category="rules",
        key="deploy",
        key_id="0" * 12,
        code="conflict",
        probe_id=probe,
        conflict_id=conflict,
        receipt_id="0" * 8,
        checkpoint="before",
        import_id=1,
        webhook_id="0" * 12,
        task_id="0" * 36,
        generation="0" * 32,
        session="s",
        conversation="c",
        topic="t1",
        turn=1,
        document="a.md",
        entity="Ann Berg",
    )
    given = {"deleteSpace": {"confirm": space}, "diffSpace": {"since": "0"}, "compareSpaces": {"other": SOURCE}}
    query = given.get(operation, QUERIES.get(operation, {}))
    if operation in LINES:
        typed = {**headers, "Content-Type": "application/x-ndjson"}
        return client.request(method, url, content=LINES[operation], headers=typed)
    body = BODIES.get(operation)
    if operation == "searchSpaces":  # the body names the space
        body = {**BODIES[operation], "spaces": [{"name": space}]}
    return client.request(method, url, json=body, headers=headers, params=query)


def stored(client: httpx.Client, engine: Engine, space: str) -> str:
    """A memory at the address that is asked for, and a checkpoint of that name."""
    if not engine.owner.timeline.list_checkpoints(space)[0]:
        engine.owner.timeline.create_checkpoint(space, "before")
    headers = administrator(engine).headers
    typed = {**headers, "Content-Type": "application/x-ndjson"}
    client.post(f"/v1/spaces/{space}/import", content=FILE, headers=typed)
    items = [{"turn": 1, "author": "Ann", "content": "Hello"}]
    talk = f"/v1/spaces/{space}/conversations/c"
    client.post(f"{talk}/exchanges", json={"items": items, "session": "s"}, headers=headers)
    client.put(f"/v1/spaces/{space}/documents/a.md", json={"content": "We moved to Turku."}, headers=headers)
    client.put(f"/v1/spaces/{space}/documents/main.py", json={"content": "def run():\n    run()\n"}, headers=headers)
    for topic, span in (("t0", [1, 4]), ("t1", [5, 20]), ("t2", [21, 30])):
        client.post(f"{talk}/topics", json={"name": topic, "spans": [span]}, headers=headers)
    client.put(f"{talk}/working/deploy", json={"content": "Keep it short."}, headers=headers)
    relation = {"subject": "Ann Berg", "kind": "works_at", "object": "Acme"}
    client.post(f"/v1/spaces/{space}/graph/relations", json=relation, headers=headers)
    body = draft("We deploy", category="rules", key="deploy", author="Ann", on_conflict="keep")
    answer = client.post(f"/v1/spaces/{space}/memories", json=body, headers=headers)
    if answer.status_code == 409:
        return answer.json()["conflicts"][0]["id"]
    return answer.json()["id"]


def test_every_route_says_whom_it_is_for(keyed: httpx.Client):
    assert set(routes(keyed)) == set(NEEDS) | ANY_KEY | PUBLIC


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", IN_A_SPACE)
def test_a_mode_allows_what_it_says_in_its_space_and_nothing_else_is_there(
    keyed: httpx.Client, engine: Engine, operation: str, mode: str
):
    key = with_mode(engine, mode, "acme.*")
    allowed = NEEDS[operation] in MODES[mode]  # pyright: ignore[reportArgumentType]
    probe = engine.probes.add(OWN, Expectation(query="q", category="rules", key="deploy"), OWNER, engine.now())
    engine.owner.write.add(OWN, [Draft(content="twice"), Draft(content="twice")], on_conflict="review")
    conflict = engine.owner.review.conflicts(OWN).items[0].id
    memory = stored(keyed, engine, OWN)
    if operation in STATEMENTS:
        memory = engine.owner.graph.relations(OWN, subject="Ann Berg").items[0].memory
    own = ask(keyed, operation, OWN, key.headers, memory, probe.id, conflict)
    assert own.is_success == allowed, own.text
    assert allowed or (own.status_code, own.json()["code"]) == (403, "forbidden")
    other = ask(keyed, operation, OTHER, key.headers, stored(keyed, engine, OTHER))
    assert (other.status_code, other.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("who", STRANGERS)
@pytest.mark.parametrize("operation", sorted(set(NEEDS) | ANY_KEY))
def test_strangers_get_nothing(keyed: httpx.Client, engine: Engine, clock: Clock, operation: str, who: str):
    headers = {
        "no key": dict[str, str],
        "unknown": lambda: {"Authorization": f"Bearer mk_{'0' * 12}_{'x' * 43}"},
        "malformed": lambda: {"Authorization": "Bearer \xe4' OR 1=1"},
        "no bearer": lambda: {"Authorization": "Basic bWU6bWU="},
        "expired": lambda: expired(engine).headers,
        "revoked": lambda: revoked(engine).headers,
    }[who]()
    clock.pass_days(0.001)
    given = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = ask(keyed, operation, OWN, given)  # pyright: ignore[reportArgumentType]
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("operation", sorted(PUBLIC))
def test_what_is_public_asks_nobody(keyed: httpx.Client, operation: str):
    assert ask(keyed, operation, OWN, {}).is_success


@pytest.mark.parametrize("operation", [name for name in NEEDS if NEEDS[name] == "admin"])
@pytest.mark.parametrize("mode", MODES)
def test_no_mode_administers(keyed: httpx.Client, engine: Engine, operation: str, mode: str):
    answer = ask(keyed, operation, OWN, with_mode(engine, mode).headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def by_requests(asked: Sequence[Statement]) -> list[str]:
    """Return the statements, unless a thread of tasks asks them, which one of the requests has made."""
    return [] if threading.current_thread().name.startswith("task") else [one.sql for one in asked]


@pytest.mark.parametrize("operation", IN_A_SPACE)
def test_a_forbidden_space_and_a_missing_one_are_the_same_from_outside(
    keyed: httpx.Client, engine: Engine, database: Breakable, operation: str
):
    """Both give the same status, body and headers, and send the same statements to the database."""
    key = with_mode(engine, "full", "acme.*")
    stored(keyed, engine, OTHER)
    ask(keyed, operation, OWN, key.headers)  # by now the key is known
    seen: list[list[str]] = []
    read, write = database.read, database.write
    answers: list[httpx.Response] = []
    for space in (OTHER, MISSING):
        said: list[str] = []
        database.read = lambda asked, said=said: (said.extend(by_requests(asked)), read(asked))[1]
        database.write = lambda asked, said=said: (said.extend(by_requests(asked)), write(asked))[1]
        answers.append(ask(keyed, operation, space, key.headers))
        seen.append(said)
    forbidden, missing = answers
    # The time of last use is written once a minute, and the minute may turn before either answer.
    alike = [[sql for sql in said if "last_used_at" not in sql] for said in seen]
    assert alike[0] == alike[1]
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.text.replace(OTHER, MISSING) == missing.text
    assert set(forbidden.headers) == set(missing.headers)


def caller_of(keyed: httpx.Client, engine: Engine) -> Caller:
    return with_mode(engine, "full", "acme.*")


def test_only_spaces_of_the_key_are_listed(keyed: httpx.Client, engine: Engine):
    found = keyed.get("/v1/spaces", headers=caller_of(keyed, engine).headers).json()["items"]
    assert [space["name"] for space in found] == [OWN, SOURCE]


@pytest.mark.parametrize("mode", MODES)
def test_a_dry_run_of_a_sync_reads_and_a_sync_deletes(keyed: httpx.Client, engine: Engine, mode: str):
    headers = with_mode(engine, mode, OWN).headers
    url, body = f"/v1/spaces/{OWN}/documents/sync", {"files": [], "folder": "docs/"}
    may = MODES[mode]  # pyright: ignore[reportArgumentType]
    planned = keyed.post(url, json=body, headers=headers, params={"dry_run": "true"})
    assert planned.status_code == (200 if "read" in may else 403)
    assert keyed.post(url, json=body, headers=headers).status_code == (200 if {"write", "delete"} <= {*may} else 403)
