"""Every route, every access mode, own and other space, no key, ended keys: exactly what may happen happens."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.quality import Expectation
from muisti.core.model.values import Draft
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.openapi.specification import EXAMPLES
from muisti.service.routes.keys import MODES
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import Breakable, draft
from tests.service.keyed import (
    ANY_KEY,
    BODIES,
    LINES,
    NEEDS,
    PUBLIC,
    QUERIES,
    STATEMENTS,
    administrator,
    expired,
    revoked,
    url,
    with_mode,
)
from tests.stores import FileStore, Store, at

OWN, OTHER, MISSING = "acme.own", "other", "gone"
SOURCE = "acme.source"  # what is compared and merged
IN_A_SPACE = [
    name
    for name in NEEDS
    if name not in ("createSpace", "deleteSpace", "listAudit", "getMetrics", "getServerStats", "forkSpace")
    and name not in ("getPlacement", "addDatabase", "planMoves", "moveUnits", "promoteSpace", "drainDatabase")
    and name != "checkPlacement"
]
STRANGERS = ("no key", "unknown", "malformed", "no bearer", "expired", "revoked")


TOKENS: dict[str, Any] = {"jwks": "keys.json", "jwt_issuer": "https://issuer.example", "jwt_audience": "muisti"}


@dataclass(frozen=True)
class Filled:
    """A database with something at every address that is asked for, in two spaces, and the time when it was filled."""

    store: Store
    routes: Mapping[str, tuple[str, str]]
    memories: Mapping[str, str]
    statement: str  # a relation that was stated, in the own space
    probe: str
    conflict: int
    until: int

    def own(self, operation: str) -> dict[str, Any]:
        """Return what an operation is about in the own space, by the parameters of its path."""
        memory = self.statement if operation in STATEMENTS else self.memories[OWN]
        return {"memory_id": memory, "probe_id": self.probe, "conflict_id": self.conflict}


def serving(engine: Engine) -> TestClient[Any]:
    return TestClient(create_app(Settings(**TOKENS), engine=engine))


def fill(store: Store) -> Filled:
    """Store what the requests are about in the own space and in the other one."""
    with Engine(store.open(), WordEncoder(), Clock()) as engine:
        headers = administrator(engine).headers
        for space in (OWN, OTHER, SOURCE):
            engine.spaces.create(space)
        probe = engine.probes.add(OWN, Expectation(query="q", category="rules", key="deploy"), OWNER, engine.now())
        engine.owner.write.add(OWN, [Draft(content="twice"), Draft(content="twice")], on_conflict="review")
        conflict = engine.owner.review.conflicts(OWN).items[0].id
        with serving(engine) as client:
            memories = {space: stored(client, engine, space, headers) for space in (OWN, OTHER)}
            statement = engine.owner.graph.relations(OWN, subject="Ann Berg").items[0].memory
            return Filled(store, routes(client), memories, statement, probe.id, conflict, engine.now())


def routes(client: httpx.Client) -> dict[str, tuple[str, str]]:
    """Method and path of each operation, by the document that the server shows."""
    paths = client.get("/openapi.json").json()["paths"]
    return {
        found["operationId"]: (method.upper(), path) for path, item in paths.items() for method, found in item.items()
    }


@dataclass(frozen=True)
class Served:
    """A server on a filled database, with what is behind it."""

    filled: Filled
    database: Breakable
    clock: Clock
    engine: Engine
    client: httpx.Client


@contextmanager
def served(original: Filled, path: Path) -> Iterator[Served]:
    """Serve a copy of the original; a database on a server is filled again."""
    store, filled = at(path), original
    if isinstance(original.store, FileStore) and isinstance(store, FileStore):
        assert [file.name for file in original.store.path.parent.iterdir()] == ["muisti.db"], "all is in one file"
        copyfile(original.store.path, store.path)
    else:
        filled = fill(store)
    clock, database = Clock(filled.until), Breakable(store.open())
    others = [WordEncoder("notes", name="notes-static-512")]
    with Engine(database, WordEncoder(), clock, others=others) as engine, serving(engine) as client:
        yield Served(filled, database, clock, engine, client)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """On one store alone: what a key may do is decided before a database is asked."""
    return fill(at(tmp_path_factory.mktemp("original") / "muisti.db"))


@pytest.fixture(scope="module")
def shared(original: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """For requests that must be refused or only read: each test makes its own keys."""
    with served(original, tmp_path_factory.mktemp("shared") / "muisti.db") as opened:
        yield opened


@pytest.fixture
def fresh(original: Filled, tmp_path: Path) -> Iterator[Served]:
    """For requests that may change what is stored."""
    with served(original, tmp_path / "muisti.db") as opened:
        yield opened


def ask(server: Served, operation: str, space: str, headers: dict[str, str], **given: Any) -> httpx.Response:
    """Send the request of an operation; `given` are further parameters of its path."""
    method, path = server.filled.routes[operation]
    at = url(path, space=space, **given)
    queries = {"deleteSpace": {"confirm": space}, "diffSpace": {"since": "0"}, "compareSpaces": {"other": SOURCE}}
    query = queries.get(operation, QUERIES.get(operation, {}))
    if operation in LINES:
        typed = {**headers, "Content-Type": "application/x-ndjson"}
        return server.client.request(method, at, content=LINES[operation], headers=typed)
    body = BODIES.get(operation)
    if operation == "searchSpaces":  # the body names the space
        body = {**BODIES[operation], "spaces": [{"name": space}]}
    return server.client.request(method, at, json=body, headers=headers, params=query)


def stored(client: httpx.Client, engine: Engine, space: str, headers: dict[str, str]) -> str:
    """Store a memory at the address that is asked for, and all else that is; return the memory's identifier."""
    engine.owner.timeline.create_checkpoint(space, "before")
    typed = {**headers, "Content-Type": "application/x-ndjson"}
    client.post(f"/v1/spaces/{space}/import", content=EXAMPLES["file"], headers=typed)
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
    return client.post(f"/v1/spaces/{space}/memories", json=body, headers=headers).raise_for_status().json()["id"]


def test_every_route_says_whom_it_is_for(original: Filled):
    assert set(original.routes) == set(NEEDS) | ANY_KEY | PUBLIC


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", IN_A_SPACE)
def test_a_mode_allows_what_it_says_in_its_space_and_nothing_else_is_there(
    request: pytest.FixtureRequest, operation: str, mode: str
):
    allowed = NEEDS[operation] in MODES[mode]  # pyright: ignore[reportArgumentType]
    server: Served = request.getfixturevalue("fresh" if allowed and NEEDS[operation] != "read" else "shared")
    key, filled = with_mode(server.engine, mode, "acme.*"), server.filled
    own = ask(server, operation, OWN, key.headers, **filled.own(operation))
    assert own.is_success == allowed, own.text
    assert allowed or (own.status_code, own.json()["code"]) == (403, "forbidden")
    other = ask(server, operation, OTHER, key.headers, memory_id=filled.memories[OTHER])
    assert (other.status_code, other.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("who", STRANGERS)
@pytest.mark.parametrize("operation", sorted(set(NEEDS) | ANY_KEY))
def test_strangers_get_nothing(shared: Served, operation: str, who: str):
    server, engine = shared, shared.engine
    headers = {
        "no key": dict[str, str],
        "unknown": lambda: {"Authorization": f"Bearer mk_{'0' * 12}_{'x' * 43}"},
        "malformed": lambda: {"Authorization": "Bearer \xe4' OR 1=1"},
        "no bearer": lambda: {"Authorization": "Basic bWU6bWU="},
        "expired": lambda: expired(engine).headers,
        "revoked": lambda: revoked(engine).headers,
    }[who]()
    server.clock.pass_days(0.001)
    given = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = ask(server, operation, OWN, given)  # pyright: ignore[reportArgumentType]
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("operation", sorted(PUBLIC))
def test_what_is_public_asks_nobody(shared: Served, operation: str):
    assert ask(shared, operation, OWN, {}).is_success


@pytest.mark.parametrize("operation", [name for name in NEEDS if NEEDS[name] == "admin"])
@pytest.mark.parametrize("mode", MODES)
def test_no_mode_administers(shared: Served, operation: str, mode: str):
    answer = ask(shared, operation, OWN, with_mode(shared.engine, mode).headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def by_requests(asked: Sequence[Statement]) -> list[str]:
    """Return the statements, unless a thread of tasks asks them, which one of the requests has made."""
    return [] if threading.current_thread().name.startswith("task") else [one.sql for one in asked]


@pytest.mark.parametrize("operation", IN_A_SPACE)
def test_a_forbidden_space_and_a_missing_one_are_the_same_from_outside(fresh: Served, operation: str):
    """Both give the same status, body and headers, and send the same statements to the database."""
    server, database = fresh, fresh.database
    key = with_mode(server.engine, "full", "acme.*")
    ask(server, operation, OWN, key.headers)  # by now the key is known
    seen: list[list[str]] = []
    read, write = database.read, database.write
    answers: list[httpx.Response] = []
    for space in (OTHER, MISSING):
        said: list[str] = []
        database.read = lambda asked, said=said: (said.extend(by_requests(asked)), read(asked))[1]
        database.write = lambda asked, said=said: (said.extend(by_requests(asked)), write(asked))[1]
        answers.append(ask(server, operation, space, key.headers))
        seen.append(said)
    forbidden, missing = answers
    # The time of last use is written once a minute, and the minute may turn before either answer.
    alike = [[sql for sql in said if "last_used_at" not in sql] for said in seen]
    assert alike[0] == alike[1]
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.text.replace(OTHER, MISSING) == missing.text
    assert set(forbidden.headers) == set(missing.headers)


def test_only_spaces_of_the_key_are_listed(fresh: Served):
    headers = with_mode(fresh.engine, "full", "acme.*").headers
    found = fresh.client.get("/v1/spaces", headers=headers).json()["items"]
    assert [space["name"] for space in found] == [OWN, SOURCE]


# What callers can make a database keep beside the versions that quotas count.
BOUNDED: Mapping[str, str] = {
    "audit": "a line for each deletion, key and setting", "changes": "one for each version",
    "embeddings": "vectors of texts that are in use; others are forgotten",
    "aliases": "other names in versions, which the background reads",
    "entities": "names in versions, which the background reads",
    "mentions": "names in versions, which the background reads",
    "relations": "facts in versions, which the background reads", "checkpoints": "at most CHECKPOINTS_MAX",
    "conflicts": "at most so many for each new memory", "feedback": "one verdict of each key on each memory",
    "imports": "one for each import, which needs the scope write", "passages": "parts of a version",
    "probes": "at most PROBES_MAX", "probe_runs": "the latest ones",
    "requests": "answers to repeated requests, for a day", "retrievals": "one for each memory",
    "sqlite_sequence": "numbers of tables", "tasks": "as many as may wait; ended ones are forgotten",
    "task_items": "parts of a task", "working": "its bytes count, and there are so many for each conversation",
}  # fmt: skip
BELONGS = ("document", "summary")  # to a chunk, and to an object, that are counted
GROWING = [name for name, need in NEEDS.items() if need in ("append", "write")]


@pytest.mark.parametrize("limit", ["memories", "bytes"])
def test_whatever_a_request_adds_is_counted_or_bounded(fresh: Served, limit: str):
    server, engine, database = fresh, fresh.engine, fresh.database
    headers, filled = with_mode(engine, "full", "acme.*").headers, fresh.filled
    (found,) = database.read([Statement("SELECT name FROM sqlite_schema WHERE type = 'table'")])
    tables = [str(row[0]) for row in found]

    def sizes() -> dict[str, int]:
        counts = database.read([Statement(f'SELECT count(*) FROM "{name}"') for name in tables])
        return {name: int(str(rows[0][0])) for name, rows in zip(tables, counts, strict=True)}

    def living() -> tuple[int, int]:
        kinds = ", ".join(f"'{kind}'" for kind in BELONGS)
        where = f"FROM versions v JOIN spaces s ON s.id = v.space_id WHERE s.name = '{OWN}' AND v.died IS NULL"
        (rows,) = database.read(
            [Statement(f"SELECT count(*) FILTER (WHERE kind NOT IN ({kinds})), sum(v.bytes) {where}")]
        )
        return int(str(rows[0][0])), int(str(rows[0][1]))

    wrong: list[str] = []
    for operation in GROWING:
        used = engine.spaces.set_quota(OWN, {})[0]
        assert (used.memories, used.bytes) == living(), f"before {operation}"
        engine.spaces.set_quota(OWN, {limit: getattr(used, limit)})
        before = sizes()
        answer = ask(server, operation, OWN, headers, **filled.own(operation))
        grown = {name for name, size in sizes().items() if size > before[name]} - {"versions"}
        if answer.status_code == 403 and answer.json()["code"] != "quota_exceeded":
            wrong.append(f"{operation} is not asked: {answer.text}")
        place = 0 if limit == "memories" else 1
        if living()[place] > getattr(used, limit):
            wrong.append(f"{operation} adds beyond the quota of {limit}")
        if grown - BOUNDED.keys():
            wrong.append(f"{operation} lets {grown - BOUNDED.keys()} grow")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("mode", MODES)
def test_a_dry_run_of_a_sync_reads_and_a_sync_deletes(fresh: Served, mode: str):
    headers, client = with_mode(fresh.engine, mode, OWN).headers, fresh.client
    url, body = f"/v1/spaces/{OWN}/documents/sync", {"files": [], "folder": "docs/"}
    may = MODES[mode]  # pyright: ignore[reportArgumentType]
    planned = client.post(url, json=body, headers=headers, params={"dry_run": "true"})
    assert planned.status_code == (200 if "read" in may else 403)
    assert client.post(url, json=body, headers=headers).status_code == (200 if {"write", "delete"} <= {*may} else 403)
